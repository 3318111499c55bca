import { createSeededRandom, type SeededRandom } from "./seeded-random.js";

/** All trials of a test run together; each file takes its share. */
const DEFAULT_TRIALS = 30;

export function trialsOf(share: number): number {
  const all = Number(process.env.THROUGHLINE_KILL_TRIALS ?? DEFAULT_TRIALS);
  return Math.max(1, Math.round(all * share));
}

export function announceRandom(what: string): SeededRandom {
  const given = process.env.THROUGHLINE_KILL_SEED;
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
  console.log(`${what}: THROUGHLINE_KILL_SEED=${seed}`);
  return createSeededRandom(seed);
}
