import { type Clock, isStoreOutage, retryStore } from "@throughline/ai-core";
import { type RunRegistry, type ThreadRef, threadKey } from "@throughline/thread-log";

export interface KeptStops<Result> {
  /**
   * Applies a stop. A store that is away is waited for, as long as a request may wait; then this rejects with the outage, and
   * the stop is kept and applied when the store is back. `key` tells stops apart, so that one asked for twice is kept once.
   */
  stop(key: string, apply: () => Promise<Result>): Promise<Result>;
  /** Resolves when every kept stop is applied, or the service has closed. */
  applied(): Promise<void>;
}

/** Less than most clients wait for an answer. */
const REQUEST_PATIENCE_MS = 5_000;

/** A person's stop must not be lost because a database was away when it was asked for. */
export function keepStops<Result>(clock: Clock, closed: AbortSignal): KeptStops<Result> {
  const kept = new Map<string, Promise<unknown>>();

  function keep(key: string, apply: () => Promise<Result>): void {
    if (kept.has(key)) return;
    const applying = retryStore({ clock, signal: closed }, apply)
      .catch(() => {})
      .finally(() => kept.delete(key));
    kept.set(key, applying);
  }

  return {
    async stop(key, apply) {
      try {
        return await retryStore({ clock, patienceMs: REQUEST_PATIENCE_MS, signal: closed }, apply);
      } catch (error) {
        if (isStoreOutage(error)) keep(key, apply);
        throw error;
      }
    },
    async applied() {
      await Promise.all(kept.values());
    },
  };
}

export interface HeardStops {
  /** Listens while a run is claimed, and until its claimer had its turn. */
  during<Result>(claim: () => Promise<Result>): Promise<Result>;
  has(runId: string): boolean;
  close(): void;
}

/**
 * R25: a stop may come between the moment a run is ours in the registry and the moment its driver listens. Heartbeats would
 * repeat it, seconds later; what was heard meanwhile makes it count at once.
 */
export function createHeardStops(registry: Pick<RunRegistry, "onStop">): HeardStops {
  const heard = new Set<string>();
  let claims = 0;
  const forget = registry.onStop((runId) => {
    if (claims > 0) heard.add(runId);
  });

  function over(): void {
    claims -= 1;
    if (claims === 0) heard.clear();
  }

  return {
    async during(claim) {
      claims += 1;
      try {
        return await claim();
      } finally {
        // After the microtasks in which the claim is taken up.
        setImmediate(over);
      }
    },
    has: (runId) => heard.has(runId),
    close: forget,
  };
}

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
