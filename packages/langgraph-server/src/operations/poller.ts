import type { Clock, Timer } from "@throughline/ai-core";

export interface PollOptions {
  readonly clock: Clock;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  /** The interval between two polls, give or take a quarter. */
  readonly everyMs: number;
  /** The delay of the first poll. Default: none. */
  readonly firstAfterMs?: number;
  /** Polls once. Resolves to the longest delay of the next poll, where something is known to fall due earlier. */
  readonly once: (closing: AbortSignal) => Promise<number | undefined>;
  readonly failed: (error: unknown) => void;
}

export interface Poller {
  /** Polls now. Resolves when a poll that began no earlier than this call is over. After `close`: at once. */
  now(): Promise<void>;
  /** Stops polling, and waits for the poll in progress. */
  close(): Promise<void>;
}

const JITTER = 0.25;

/** Polls for work at intervals, one poll at a time. After a failed poll the next one follows at the usual interval. */
export function poll(options: PollOptions): Poller {
  const { clock, random, everyMs, firstAfterMs } = options;
  const closing = new AbortController();
  let timer: Timer | undefined;
  let polling: Promise<void> | undefined;
  let isRequestedAgain = false;

  async function pollWhileRequested(): Promise<void> {
    timer?.cancel();
    let waitMs = everyMs * (1 - JITTER + 2 * JITTER * random());
    try {
      do {
        isRequestedAgain = false;
        waitMs = Math.min(waitMs, (await options.once(closing.signal)) ?? waitMs);
      } while (isRequestedAgain && !closing.signal.aborted);
    } catch (error) {
      options.failed(error);
    }
    polling = undefined;
    pollAfter(waitMs);
  }

  function pollAfter(ms: number): void {
    if (!closing.signal.aborted) timer = clock.schedule(ms, () => void now());
  }

  function now(): Promise<void> {
    if (closing.signal.aborted) return Promise.resolve();
    // The poll in progress may have read before the caller's write.
    if (polling) isRequestedAgain = true;
    polling ??= pollWhileRequested();
    return polling;
  }

  if (firstAfterMs === undefined) void now();
  else pollAfter(firstAfterMs);
  return {
    now,
    async close() {
      closing.abort();
      timer?.cancel();
      await polling;
    },
  };
}

/** Resolves after a delay, or at once when it is cancelled: no caller waits for a cancelled timer. */
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
