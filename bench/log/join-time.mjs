import { createThreadLog, readProjection } from "@throughline/thread-log";
import { envelopeOf } from "./ours.mjs";
import { percentile } from "./percentile.mjs";
import { textOfSize } from "./text-of-size.mjs";

const ENTRIES_PER_APPEND = 500;
/** The last snapshot lies this far behind the head, whatever the thread's length. */
const SINCE_SNAPSHOT = 100;
const STATE_BYTES = 20_000;

/** Whatever the length, the same state. */
const fold = {
  version: 1,
  reads: [1],
  empty: "",
  apply: (_, entries) => (entries.at(-1)?.envelope.payload.value ?? "").padEnd(STATE_BYTES, "x"),
  encode: (state) => state,
  decode: (snapshot) => snapshot,
};

/**
 * How long it takes to learn what a thread has become, by its length: the median of `times` joins each.
 *
 * @returns {Promise<Map<number, number>>} milliseconds
 */
export async function measureJoins({ store, open }, lengths, { times }) {
  // Snapshots are saved below, at the same distance from the head for every length.
  const log = createThreadLog({ store });
  const threads = new Map();
  for (const length of lengths) threads.set(length, await fill(log, await open(`join-${length}`), length));
  const samples = new Map(lengths.map((length) => [length, []]));
  for (let round = 0; round < times; round++) {
    for (const [length, thread] of threads) {
      const before = performance.now();
      const folded = await readProjection(log, fold, thread);
      samples.get(length).push(performance.now() - before);
      if (folded.kind !== "folded" || folded.position.seq !== length) throw new Error("The join went wrong.");
    }
  }
  await log.close();
  return new Map([...samples].map(([length, values]) => [length, percentile(values, 50)]));
}

async function fill(log, { thread, fence }, length) {
  for (let written = 0; written < length; ) {
    const count = Math.min(ENTRIES_PER_APPEND, length - SINCE_SNAPSHOT - written) || length - written;
    const entries = Array.from({ length: count }, () => envelopeOf(thread, textOfSize()));
    const { epoch, last } = await log.append(thread, entries, fence);
    written += count;
    if (last !== length - SINCE_SNAPSHOT) continue;
    const state = fold.encode(fold.apply("", [{ envelope: entries.at(-1) }]));
    await log.saveSnapshot(thread, { position: { epoch, seq: last }, foldVersion: fold.version, state });
  }
  return thread;
}
