import { expect } from "vitest";
import { seededRandom } from "./seeded-random.js";

/** Of `--seed`, or the one that was chosen and printed. */
export const SEED = Number(process.env.THROUGHLINE_SEED ?? 1) >>> 0;

/** How many random trials a test does: `--trials`, or as many as the test thinks enough. */
export function trialsOr(usual: number): number {
  const asked = process.env.THROUGHLINE_TRIALS;
  return asked === undefined ? usual : Math.max(1, Number(asked));
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
