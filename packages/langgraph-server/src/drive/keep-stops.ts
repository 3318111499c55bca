import { type Clock, isStoreOutage, retryStore } from "@throughline/ai-core";

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
