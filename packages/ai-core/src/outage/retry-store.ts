import type { Clock } from "../clock/clock.js";
import { isStoreOutage, StoreOutage } from "./store-outage.js";

export interface RetryStoreOptions {
  readonly clock: Clock;
  /** Gives up when aborted, with the last `StoreOutage`. */
  readonly signal?: AbortSignal | undefined;
  /** Gives up after this time, with the last `StoreOutage`. Absent: waits however long the store is away. */
  readonly patienceMs?: number | undefined;
  /** In [0, 1): spreads those who wait for the same store. */
  readonly random?: (() => number) | undefined;
  /** Called before each wait. */
  readonly onOutage?: ((outage: StoreOutage) => void) | undefined;
}

const FIRST_DELAY_MS = 20;
const LONGEST_DELAY_MS = 1_000;

/**
 * The one policy for stores that are away: wait and try again, with growing pauses. The attempt must be safe to repeat,
 * because an answer may be lost after the store has done what it was asked. Every other error is thrown at once.
 */
export async function retryStore<Result>(
  { clock, signal, patienceMs = Number.POSITIVE_INFINITY, random = Math.random, onOutage }: RetryStoreOptions,
  attempt: () => Promise<Result>,
): Promise<Result> {
  const deadline = clock.now() + patienceMs;
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 2, LONGEST_DELAY_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
      const outage = error instanceof StoreOutage ? error : new StoreOutage(error);
      const waitMs = delay * (0.5 + random() / 2);
      if (signal?.aborted || clock.now() + waitMs > deadline) throw outage;
      onOutage?.(outage);
      await pause(clock, waitMs, signal);
      if (signal?.aborted) throw outage;
    }
  }
}

function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.schedule(ms, end);
    signal?.addEventListener("abort", end, { once: true });
  });
}
