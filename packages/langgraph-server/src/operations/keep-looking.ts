import type { Clock, Timer } from "@throughline/ai-core";

export interface KeepLookingOptions {
  readonly clock: Clock;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  /** Between two looks, give or take a quarter. */
  readonly everyMs: number;
  /** Before the first look; without it the first is at once. */
  readonly firstAfterMs?: number;
  /** Resolves to how long the next look may wait at the most, where something is known to fall due earlier. */
  readonly look: (closing: AbortSignal) => Promise<number | undefined>;
  readonly failed: (error: unknown) => void;
}

export interface Looking {
  /** Looks now; resolves when a look that began no earlier than this call is over. After `close`: at once. */
  look(): Promise<void>;
  /** Waits for the look that is under way. */
  close(): Promise<void>;
}

const JITTER = 0.25;

/** Looks for work again and again, one look at a time. A look that fails is followed by the next one in its time. */
export function keepLooking(options: KeepLookingOptions): Looking {
  const { clock, random, everyMs, firstAfterMs } = options;
  const closing = new AbortController();
  let timer: Timer | undefined;
  let looking: Promise<void> | undefined;
  let isAskedAgain = false;

  async function lookUntilNobodyAsks(): Promise<void> {
    timer?.cancel();
    let waitMs = everyMs * (1 - JITTER + 2 * JITTER * random());
    try {
      do {
        isAskedAgain = false;
        waitMs = Math.min(waitMs, (await options.look(closing.signal)) ?? waitMs);
      } while (isAskedAgain && !closing.signal.aborted);
    } catch (error) {
      options.failed(error);
    }
    looking = undefined;
    lookAfter(waitMs);
  }

  function lookAfter(ms: number): void {
    if (!closing.signal.aborted) timer = clock.schedule(ms, () => void look());
  }

  function look(): Promise<void> {
    if (closing.signal.aborted) return Promise.resolve();
    // What is under way may have looked before that which is asked about was written.
    if (looking) isAskedAgain = true;
    looking ??= lookUntilNobodyAsks();
    return looking;
  }

  if (firstAfterMs === undefined) void look();
  else lookAfter(firstAfterMs);
  return {
    look,
    async close() {
      closing.abort();
      timer?.cancel();
      await looking;
    },
  };
}
