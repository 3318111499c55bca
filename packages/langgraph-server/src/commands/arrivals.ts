import { type ThreadRef, threadKey } from "@throughline/thread-log";

/** A request on its way to becoming a run. */
export interface Arrival {
  /** Whether the thread was stopped since the request came in. */
  isStopped(thread: ThreadRef): boolean;
}

export interface Arrivals {
  /** Calls at once; the request counts as on its way until the work is over. */
  arriving<Result>(work: (arrival: Arrival) => Promise<Result>): Promise<Result>;
  stop(thread: ThreadRef): void;
}

/**
 * R25: a stop that names no run is for everything that was asked of the thread before it. Between the first byte of a request
 * and its run in the registry lie a sign-in, a body and some reading, and which thread it is for is not known from the
 * start: so every request on its way hears of every stop. It is an order of events and not of times: two may share a
 * millisecond.
 */
export function createArrivals(): Arrivals {
  const onTheirWay = new Set<Set<string>>();
  return {
    async arriving(work) {
      const stopped = new Set<string>();
      onTheirWay.add(stopped);
      try {
        return await work({ isStopped: (thread) => stopped.has(threadKey(thread)) });
      } finally {
        onTheirWay.delete(stopped);
      }
    },
    stop(thread) {
      for (const stopped of onTheirWay) stopped.add(threadKey(thread));
    },
  };
}
