import { createSeededRandom, type SeededRandom } from "./seeded-random.js";

/** All trials of a test run together; each file takes its share. */
const DEFAULT_TRIALS = 30;

export function trialsOf(share: number): number {
  const all = Number(process.env.THROUGHLINE_KILL_TRIALS ?? DEFAULT_TRIALS);
  return Math.max(1, Math.round(all * share));
}

export function announceRandom(what: string): SeededRandom {
  const seed = Number(process.env.THROUGHLINE_SEED);
  console.log(`${what}: THROUGHLINE_SEED=${seed}`);
  return createSeededRandom(seed);
}
