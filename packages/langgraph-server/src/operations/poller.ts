import type { Clock, Timer } from "@throughline/ai-core";

export interface PollOptions {
  readonly clock: Clock;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  /** Between two polls, give or take a quarter. */
  readonly everyMs: number;
  /** Before the first poll; without it the first is at once. */
  readonly firstAfterMs?: number;
  /** Resolves to how long the next poll may wait at the most, where something is known to fall due earlier. */
  readonly once: (closing: AbortSignal) => Promise<number | undefined>;
  readonly failed: (error: unknown) => void;
}

export interface Poller {
  /** Polls now; resolves when a poll that began no earlier than this call is over. After `close`: at once. */
  now(): Promise<void>;
  /** Waits for the poll that is under way. */
  close(): Promise<void>;
}

const JITTER = 0.25;

/** Polls for work at intervals, one poll at a time. A poll that fails is followed by the next one in its time. */
export function poll(options: PollOptions): Poller {
  const { clock, random, everyMs, firstAfterMs } = options;
  const closing = new AbortController();
  let timer: Timer | undefined;
  let polling: Promise<void> | undefined;
  let isAskedAgain = false;

  async function pollWhileAsked(): Promise<void> {
    timer?.cancel();
    let waitMs = everyMs * (1 - JITTER + 2 * JITTER * random());
    try {
      do {
        isAskedAgain = false;
        waitMs = Math.min(waitMs, (await options.once(closing.signal)) ?? waitMs);
      } while (isAskedAgain && !closing.signal.aborted);
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
    // The poll under way may have read before what this call is about was written.
    if (polling) isAskedAgain = true;
    polling ??= pollWhileAsked();
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
