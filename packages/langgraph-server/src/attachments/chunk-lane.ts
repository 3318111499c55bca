import { type Clock, systemClock } from "@throughline/ai-core";
import { untilElapsed } from "../timing/until-elapsed.js";

/** Runs chunk statements of an instance one at a time. */
export type ChunkLane = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** A statement that stood in a queue for long says nothing of how busy the database is. */
const LONGEST_REST_MS = 250;

/**
 * One chunk after the other, and after each a rest as long as it took. So files take half of one connection at the most, and
 * less of it the busier the database and the process are: a person who waits for a token goes first.
 */
export function createChunkLane({ clock = systemClock }: { readonly clock?: Clock } = {}): ChunkLane {
  let last: Promise<void> = Promise.resolve();
  return async (work) => {
    const before = last;
    let leave = () => {};
    last = new Promise((resolve) => {
      leave = resolve;
    });
    await before;
    const startedAt = clock.now();
    try {
      return await work();
    } finally {
      const restMs = Math.min(clock.now() - startedAt, LONGEST_REST_MS);
      if (restMs <= 0) leave();
      else void untilElapsed(clock, restMs).then(leave);
    }
  };
}
