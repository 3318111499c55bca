import { type Clock, isStoreOutage, retryStore } from "@throughline/ai-core";
import { type RunRegistry, type ThreadRef, threadKey } from "@throughline/thread-log";

export interface PendingStops<Result> {
  /**
   * Applies a stop. Waits for a store in an outage, as long as a request may wait; then rejects with the outage, and the stop
   * stays pending and is applied when the store is back. `key` identifies a stop, so that a repeated one is pending once.
   */
  stop(key: string, apply: () => Promise<Result>): Promise<Result>;
  /** Resolves when every pending stop is applied, or the service has closed. */
  applied(): Promise<void>;
}

/** Less than most clients wait for a response. */
const REQUEST_PATIENCE_MS = 5_000;

/** Retries stops through outages: a person's stop must not be lost because of an outage at the time of the request. */
export function createPendingStops<Result>(clock: Clock, closed: AbortSignal): PendingStops<Result> {
  const pending = new Map<string, Promise<unknown>>();

  function applyLater(key: string, apply: () => Promise<Result>): void {
    if (pending.has(key)) return;
    const applying = retryStore({ clock, signal: closed }, apply)
      .catch(() => {})
      .finally(() => pending.delete(key));
    pending.set(key, applying);
  }

  return {
    async stop(key, apply) {
      try {
        return await retryStore({ clock, patienceMs: REQUEST_PATIENCE_MS, signal: closed }, apply);
      } catch (error) {
        if (isStoreOutage(error)) applyLater(key, apply);
        throw error;
      }
    },
    async applied() {
      await Promise.all(pending.values());
    },
  };
}

export interface StopsDuringClaim {
  /** Listens while a run is claimed, and until its claimer had its turn. */
  during<Result>(claim: () => Promise<Result>): Promise<Result>;
  has(runId: string): boolean;
  close(): void;
}

/**
 * R25: a stop may come between the moment a run is ours in the registry and the moment its driver listens. Heartbeats would
 * repeat it, seconds later; the stops received meanwhile make it count at once.
 */
export function createStopsDuringClaim(registry: Pick<RunRegistry, "onStop">): StopsDuringClaim {
  const received = new Set<string>();
  let claims = 0;
  const forget = registry.onStop((runId) => {
    if (claims > 0) received.add(runId);
  });

  function over(): void {
    claims -= 1;
    if (claims === 0) received.clear();
  }

  return {
    async during(claim) {
      claims += 1;
      try {
        return await claim();
      } finally {
        // After the microtasks in which the claimed run gets its driver.
        setImmediate(over);
      }
    },
    has: (runId) => received.has(runId),
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
 * R25: a stop that names no run is for everything that was requested of the thread before it. Between the first byte of a request
 * and its run in the registry lie a sign-in, a body and some reading, and which thread it is for is not known from the
 * start: so every request on its way receives every stop. It is an order of events and not of times: two may share a
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
