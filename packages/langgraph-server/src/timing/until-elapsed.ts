import type { Clock } from "@throughline/ai-core";

/** Resolves when the time is over, or earlier when it is cancelled: a cancelled timer keeps no caller waiting. */
export function untilElapsed(clock: Clock, ms: number): Promise<void> & { cancel(): void } {
  let cancel = () => {};
  const elapsed = new Promise<void>((resolve) => {
    const timer = clock.schedule(ms, resolve);
    cancel = () => {
      timer.cancel();
      resolve();
    };
  });
  return Object.assign(elapsed, { cancel });
}
