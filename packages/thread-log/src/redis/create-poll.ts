import type { Clock, Timer } from "@throughline/ai-core";

export interface Poll {
  /** Polls at once and then at intervals. Does nothing while it polls already, so that it may be called at every failure. */
  start(): void;
  stop(): void;
}

export function createPoll(clock: Clock, everyMs: number, poll: () => void): Poll {
  let next: Timer | undefined;

  function pollNow(): void {
    next = clock.schedule(everyMs, pollNow);
    poll();
  }

  return {
    start() {
      if (next === undefined) pollNow();
    },
    stop() {
      next?.cancel();
      next = undefined;
    },
  };
}
