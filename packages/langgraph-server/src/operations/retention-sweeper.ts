import type { Clock } from "@throughline/ai-core";
import type { PageOptions, RetentionPolicy, RunRegistry, ThreadLog } from "@throughline/thread-log";
import type { ServiceObserver } from "../thread/service-observer.js";
import { poll } from "../timing/poll.js";

/** R20: how much of a thread's log is kept, for how long and in what form. A bound that is absent is none. */
export interface Retention extends RetentionPolicy {
  /** How often all threads are looked over for age, give or take a quarter. Default one hour. */
  readonly sweepEveryMs?: number;
  /** How long after a run's end its entries are compacted. Absent: never. */
  readonly compactAfterMs?: number;
}

const DAY_MS = 86_400_000;
const CENTURY_MS = 36_525 * DAY_MS;

export const DEFAULT_RETENTION: Retention = {
  maxEntries: 500_000,
  maxBytes: 512 * 1_048_576,
  maxAgeMs: 90 * DAY_MS,
  compactAfterMs: 7 * DAY_MS,
};

export interface SweeperOptions {
  readonly log: Pick<ThreadLog, "sweep" | "compact">;
  readonly registry: Pick<RunRegistry, "pruneEnded">;
  readonly retention: Retention;
  readonly clock: Clock;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "swept" | "failed">;
}

export interface Sweeper {
  /** A round that begins now, or after the one that is under way. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_EVERY_MS = 3_600_000;
/** Instances that live shorter than a round take part all the same. */
const FIRST_WITHIN_MS = 300_000;
const RUNS_PER_PRUNE = 500;

/**
 * What grows is trimmed as it grows; what only grows old is found here. Every instance makes its rounds: what one of them
 * has let go of, the next no longer finds.
 */
export function startRetentionSweeper(options: SweeperOptions): Sweeper {
  const { log, registry, retention, clock, random, observer } = options;
  const { sweepEveryMs: everyMs = DEFAULT_EVERY_MS, maxAgeMs, compactAfterMs } = retention;

  /** Page by page; gives the entries dropped. */
  async function everyThread(
    takePage: (page: PageOptions) => Promise<{ readonly dropped: number; readonly next: string | undefined }>,
    closing: AbortSignal,
  ): Promise<number> {
    let entries = 0;
    let after: string | undefined;
    do {
      const { dropped, next } = await takePage({ after });
      entries += dropped;
      after = next;
    } while (after !== undefined && !closing.aborted);
    return entries;
  }

  async function pruneRuns(olderThanMs: number, closing: AbortSignal): Promise<number> {
    let runs = 0;
    for (let pruned = RUNS_PER_PRUNE; pruned === RUNS_PER_PRUNE && !closing.aborted; runs += pruned) {
      pruned = await registry.pruneEnded(olderThanMs, RUNS_PER_PRUNE);
    }
    return runs;
  }

  const { now, close } = poll({
    clock,
    random,
    everyMs,
    firstAfterMs: Math.min(everyMs, FIRST_WITHIN_MS) * random(),
    async once(closing) {
      // Without an age no run is forgotten, but stops that nothing came for are.
      const runs = await pruneRuns(maxAgeMs ?? CENTURY_MS, closing);
      const sweepPage = (page: PageOptions) => log.sweep(retention, page);
      const entries = maxAgeMs === undefined ? 0 : await everyThread(sweepPage, closing);
      const merged = compactAfterMs === undefined ? 0 : await everyThread(log.compact, closing);
      observer.swept({ entries, merged, runs });
      return undefined;
    },
    failed: (error) =>
      observer.failed("What is past its retention could not be swept; it is tried again.", error),
  });
  return { sweep: now, close };
}
