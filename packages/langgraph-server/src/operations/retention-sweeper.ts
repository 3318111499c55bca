import type { Clock, Timer } from "@throughline/ai-core";
import type { RetentionPolicy, RunRegistry, ThreadLog } from "@throughline/thread-log";
import type { ServiceObserver } from "../drive/service-observer.js";

/** R20: how much of a thread's log is kept, and for how long. A bound that is absent is none. */
export interface Retention extends RetentionPolicy {
  /** How often all threads are looked over for age, give or take a quarter. Default one hour. */
  readonly sweepEveryMs?: number;
}

const DAY_MS = 86_400_000;
const CENTURY_MS = 36_525 * DAY_MS;

export const DEFAULT_RETENTION: Retention = {
  maxEntries: 500_000,
  maxBytes: 512 * 1_048_576,
  maxAgeMs: 90 * DAY_MS,
};

export interface SweeperOptions {
  readonly log: Pick<ThreadLog, "sweep">;
  readonly registry: Pick<RunRegistry, "pruneEnded">;
  readonly retention: Retention;
  readonly clock: Clock;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "swept" | "failed">;
}

export interface Sweeper {
  /** One round, now; joins the one under way if there is one. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_EVERY_MS = 3_600_000;
/** Instances that live shorter than a round take part all the same. */
const FIRST_WITHIN_MS = 300_000;
const JITTER = 0.25;
const RUNS_PER_PRUNE = 500;

/**
 * What grows is trimmed as it grows; what only grows old is found here. Every instance makes its rounds: what one of them
 * has let go of, the next no longer finds.
 */
export function startRetentionSweeper(options: SweeperOptions): Sweeper {
  const { log, registry, retention, clock, random, observer } = options;
  const { sweepEveryMs = DEFAULT_EVERY_MS, maxAgeMs } = retention;
  let closed = false;
  let timer: Timer | undefined;
  let round: Promise<void> | undefined;

  async function sweepThreads(): Promise<number> {
    let entries = 0;
    let after: string | undefined;
    do {
      const { dropped, next } = await log.sweep(retention, { after });
      entries += dropped;
      after = next;
    } while (after !== undefined && !closed);
    return entries;
  }

  async function pruneRuns(olderThanMs: number): Promise<number> {
    let runs = 0;
    for (let pruned = RUNS_PER_PRUNE; pruned === RUNS_PER_PRUNE && !closed; runs += pruned) {
      pruned = await registry.pruneEnded(olderThanMs, RUNS_PER_PRUNE);
    }
    return runs;
  }

  async function sweepOnce(): Promise<void> {
    timer?.cancel();
    try {
      // Without an age no run is forgotten, but stops that nothing came for are.
      const runs = await pruneRuns(maxAgeMs ?? CENTURY_MS);
      observer.swept({ entries: maxAgeMs === undefined ? 0 : await sweepThreads(), runs });
    } catch (error) {
      observer.failed("What is past its retention could not be swept; it is tried again.", error);
    }
    round = undefined;
    wait(sweepEveryMs * (1 - JITTER + 2 * JITTER * random()));
  }

  function sweep(): Promise<void> {
    round ??= sweepOnce();
    return round;
  }

  function wait(ms: number): void {
    if (!closed) timer = clock.schedule(ms, () => void sweep());
  }

  wait(Math.min(sweepEveryMs, FIRST_WITHIN_MS) * random());
  return {
    sweep,
    async close() {
      closed = true;
      timer?.cancel();
      await round;
    },
  };
}
