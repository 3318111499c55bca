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
  // Every commit passes here: a controller of its own would cost it as much as its encoding.
  if (patienceMs === undefined) return untilAborted(clock, signal, attempt);
  const ended = new AbortController();
  const end = () => ended.abort();
  if (signal.aborted) end();
  const timer = clock.schedule(patienceMs, end);
  signal.addEventListener("abort", end, { once: true });
  try {
    return await untilAborted(clock, ended.signal, attempt);
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", end);
  }
}

async function untilAborted<Result>(
  clock: Clock,
  signal: AbortSignal,
  attempt: () => Promise<Result>,
): Promise<Result> {
  let outage: StoreOutage | undefined;
  const last = () => outage ?? new StoreOutage(new Error("The store has not answered in time."));
  if (signal.aborted) throw last();
  const onOutage = (met: StoreOutage) => {
    outage = met;
  };
  let abandon = () => {};
  const abandoned = new Promise<never>((_, reject) => {
    abandon = () => reject(last());
  });
  signal.addEventListener("abort", abandon, { once: true });
  try {
    return await Promise.race([retryStore({ clock, signal, onOutage }, attempt), abandoned]);
  } finally {
    signal.removeEventListener("abort", abandon);
  }
}
