import type { Clock } from "@throughline/ai-core";

/** Resolves after `ms` of the clock, or at once when the signal fires; the caller checks the signal. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      timer.cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.schedule(ms, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}
