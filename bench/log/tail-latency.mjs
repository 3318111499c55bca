import { setTimeout as delay } from "node:timers/promises";
import { percentile } from "./percentile.mjs";
import { textOfSize } from "./text-of-size.mjs";

const EVERY_MS = 25;
const MOST_ACTIVE = 20;
const FIRST_THREAD = 10_000;

/**
 * Each watcher follows its own thread from another instance; up to twenty of the threads are written every 25 ms. From the
 * call that appends to the watcher that sees it.
 *
 * @param {import("./services.mjs").Side} side
 * @param {{ watchers: number, seconds: number }} load
 */
export async function measureTails({ append, watch }, { watchers, seconds }) {
  const threads = Array.from({ length: watchers }, (_, index) => FIRST_THREAD + index);
  const active = threads.slice(0, MOST_ACTIVE);
  const latencies = [];
  let expected = threads.length;
  let onSeen = () => {};
  const stop = await watch(threads, (text) => {
    latencies.push(performance.now() - Number.parseFloat(text));
    onSeen();
  });
  const untilAllSeen = () =>
    new Promise((resolve) => {
      onSeen = () => latencies.length >= expected && resolve();
      onSeen();
    });
  // One entry for everybody first: a watcher that has seen it has joined.
  await Promise.all(threads.map((thread) => append(thread, textOfSize(`${performance.now()} `))));
  await untilAllSeen();
  latencies.length = 0;
  expected = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  await Promise.all(
    active.map(async (thread, index) => {
      for (let due = startedAt + (EVERY_MS * index) / active.length; due < endsAt; due += EVERY_MS) {
        await delay(Math.max(0, due - performance.now()));
        expected++;
        await append(thread, textOfSize(`${performance.now()} `));
      }
    }),
  );
  await untilAllSeen();
  await stop();
  if (latencies.length !== expected)
    throw new Error(`${expected} were written, ${latencies.length} were seen.`);
  return { p50: percentile(latencies, 50), p99: percentile(latencies, 99) };
}
