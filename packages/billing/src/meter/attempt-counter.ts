import { forgetOldest } from "./forget-oldest.js";
import type { MeteredRun } from "./metered-run.js";

/** More attempts than one process has under way at once; the oldest is forgotten first. */
const REMEMBERED = 10_000;

/** Numbers the calls of each attempt of a run, from 1. */
export function createAttemptCounter(): (run: Pick<MeteredRun, "runId" | "attempt">) => number {
  const counts = new Map<string, number>();
  return ({ runId, attempt }) => {
    const key = `${runId}/${attempt}`;
    const count = (counts.get(key) ?? 0) + 1;
    // Back to the end of the map's order.
    counts.delete(key);
    counts.set(key, count);
    forgetOldest(counts, REMEMBERED);
    return count;
  };
}
