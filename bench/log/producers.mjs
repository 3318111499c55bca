import { setTimeout as delay } from "node:timers/promises";
import { percentile } from "./percentile.mjs";
import { textOfSize } from "./text-of-size.mjs";

/**
 * Each producer writes its own thread, one entry at a time: every `everyMs`, or the next as soon as the last is durable.
 *
 * @param {import("./services.mjs").Side} side
 * @param {{ producers: number, everyMs: number, seconds: number, firstThread?: number }} load
 */
export async function measureProducers({ append }, { producers, everyMs, seconds, firstThread = 1 }) {
  const threads = Array.from({ length: producers }, (_, index) => firstThread + index);
  const text = textOfSize();
  await Promise.all(threads.map((thread) => append(thread, text)));
  const latencies = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;

  async function produceFlatOut(thread) {
    while (performance.now() < endsAt) await timed(thread);
  }

  async function produceAtPace(thread) {
    const inFlight = [];
    let due = startedAt + (everyMs * (thread - firstThread)) / producers;
    while (due < endsAt) {
      await delay(Math.max(0, due - performance.now()));
      inFlight.push(timed(thread));
      due += everyMs;
    }
    await Promise.all(inFlight);
  }

  async function timed(thread) {
    const before = performance.now();
    await append(thread, text);
    latencies.push(performance.now() - before);
  }

  await Promise.all(threads.map(everyMs === 0 ? produceFlatOut : produceAtPace));
  const elapsed = (performance.now() - startedAt) / 1_000;
  return {
    perSecond: latencies.length / elapsed,
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
  };
}
