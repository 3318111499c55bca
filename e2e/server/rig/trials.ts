import { expect } from "vitest";

/** Of `--seed`, or the one that was chosen and printed. */
export const SEED = Number(process.env.THROUGHLINE_SEED ?? 1) >>> 0;

/** How many random trials a test does: `--trials`, or as many as the test thinks enough. */
export function trialsOr(usual: number): number {
  const asked = process.env.THROUGHLINE_TRIALS;
  return asked === undefined ? usual : Math.max(1, Number(asked));
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Does a trial `usual` times, or as often as asked; one that fails says how to do it again. */
export async function eachTrial(
  usual: number,
  trial: (random: () => number, index: number) => Promise<void>,
): Promise<void> {
  const trials = trialsOr(usual);
  for (let index = 0; index < trials; index += 1) {
    try {
      await trial(seededRandom(SEED + index), index);
    } catch (error) {
      const name = (expect.getState().currentTestName ?? "").replaceAll(" > ", " ");
      const again = `--seed ${SEED} --trials ${index + 1} --filter "${name}"`;
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`Trial ${index} of ${trials} failed: ${why}\nTo see it again: ${again}`, {
        cause: error,
      });
    }
  }
}
