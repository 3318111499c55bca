import { type Clock, retryStore, StoreOutage } from "@throughline/ai-core";

export interface WaitForStoreOptions {
  readonly clock: Clock;
  /** Ends the wait at once. */
  readonly signal: AbortSignal;
  /** Ends the wait after this time. Absent: waits however long the store is away. */
  readonly patienceMs?: number;
}

/**
 * `retryStore` for those who can't wait for an attempt to end: when the wait ends, so does this, with a `StoreOutage`. An
 * attempt under way is abandoned; its own deadline ends it.
 */
export async function waitForStore<Result>(
  { clock, signal, patienceMs }: WaitForStoreOptions,
  attempt: () => Promise<Result>,
): Promise<Result> {
  let outage: StoreOutage | undefined;
  const last = () => outage ?? new StoreOutage(new Error("The store has not answered in time."));
  if (signal.aborted) throw last();
  const ended = new AbortController();
  const end = () => ended.abort();
  const abandoned = new Promise<never>((_, reject) => {
    ended.signal.addEventListener("abort", () => reject(last()), { once: true });
  });
  const timer = patienceMs === undefined ? undefined : clock.schedule(patienceMs, end);
  signal.addEventListener("abort", end, { once: true });
  const onOutage = (met: StoreOutage) => {
    outage = met;
  };
  try {
    return await Promise.race([retryStore({ clock, signal: ended.signal, onOutage }, attempt), abandoned]);
  } finally {
    timer?.cancel();
    signal.removeEventListener("abort", end);
  }
}
