import type { Clock } from "@throughline/ai-core";
import type { CheckpointRetention } from "@throughline/graph-executor";
import type { RetentionPolicy, RunRegistry, ThreadLog } from "@throughline/thread-log";
import { NOTHING_SWEPT, type ServiceObserver, type Swept } from "./observer.js";
import { poll } from "./poller.js";
import type { RetentionStore } from "./retention-store.js";

/** R20: how much of a thread is retained, for how long and in what form. An absent bound does not limit. */
export interface Retention extends RetentionPolicy {
  readonly checkpoints?: CheckpointRetention;
  /** How long the receipt of a deletion is retained after its end. */
  readonly receiptAgeMs?: number;
  /** The interval of rounds over all threads, give or take a quarter. Default one hour. */
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
  checkpoints: { keepNewest: 100, keepYoungerMs: 7 * DAY_MS },
  receiptAgeMs: 365 * DAY_MS,
};

/** The stores that hold data of a thread past its use. */
export interface RetentionTargets {
  readonly log: Pick<ThreadLog, "compact" | "sweep">;
  readonly registry: Pick<RunRegistry, "pruneEnded">;
  readonly store: Pick<RetentionStore, "pruneCheckpoints" | "deleteUnstartedThreads">;
  readonly receipts: { deleteReceipts(olderThanMs: number, limit: number): Promise<number> };
}

export interface SweeperOptions extends RetentionTargets {
  readonly retention: Retention;
  readonly clock: Clock;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "swept" | "failed">;
}

export interface Sweeper {
  /** Runs a round now, or after the one in progress. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_EVERY_MS = 3_600_000;
/** Latest start of the first round: instances that live shorter than the interval take part, too. */
const FIRST_WITHIN_MS = 300_000;
const ROWS_PER_BATCH = 500;

/**
 * Deletes rows that are past their age, and checkpoints; rows bounded by size are trimmed as they grow. Every instance runs
 * rounds: rows that one of them has deleted, the next does not find.
 */
export function startRetentionSweeper(options: SweeperOptions): Sweeper {
  const { retention, clock, random, observer } = options;
  const { sweepEveryMs: everyMs = DEFAULT_EVERY_MS } = retention;
  const { now, close } = poll({
    clock,
    random,
    everyMs,
    firstAfterMs: Math.min(everyMs, FIRST_WITHIN_MS) * random(),
    async once(closing) {
      const onFailure = (error: unknown) =>
        observer.failed("A thread's checkpoints could not be pruned; the others were.", error);
      observer.swept(await sweepOnce(options, retention, { closing, onFailure }));
      return undefined;
    },
    failed: (error) =>
      observer.failed("What is past its retention could not be swept; it is tried again.", error),
  });
  return { sweep: now, close };
}

/** Runs one round over all stores that have a retention. */
export async function sweepOnce(
  targets: RetentionTargets,
  { checkpoints: checkpointRetention, receiptAgeMs, compactAfterMs, ...policy }: Retention,
  { closing, onFailure }: { readonly closing: AbortSignal; readonly onFailure: (error: unknown) => void },
): Promise<Swept> {
  const { log, registry, store, receipts } = targets;
  // Without an age no run is deleted, but stops whose run never arrived are.
  const runs = await inBatches(closing, (limit) => registry.pruneEnded(policy.maxAgeMs ?? CENTURY_MS, limit));
  const threads = await inBatches(closing, store.deleteUnstartedThreads);
  const deletedReceipts =
    receiptAgeMs === undefined
      ? 0
      : await inBatches(closing, (limit) => receipts.deleteReceipts(receiptAgeMs, limit));
  let entries = 0;
  if (policy.maxAgeMs !== undefined) {
    await overPages(closing, async (after) => {
      const { dropped, next } = await log.sweep(policy, { after });
      entries += dropped;
      return next;
    });
  }
  let merged = 0;
  if (compactAfterMs !== undefined) {
    await overPages(closing, async (after) => {
      const { dropped, next } = await log.compact({ after });
      merged += dropped;
      return next;
    });
  }
  let swept: Swept = { ...NOTHING_SWEPT, entries, merged, runs, threads, receipts: deletedReceipts };
  if (checkpointRetention !== undefined) {
    await overPages(closing, async (after) => {
      const page = await store.pruneCheckpoints(checkpointRetention, { after, closing, onFailure });
      const { checkpoints, blobs, writes } = page.checkpoints;
      swept = {
        ...swept,
        checkpoints: swept.checkpoints + checkpoints,
        blobs: swept.blobs + blobs,
        writes: swept.writes + writes,
      };
      return page.next;
    });
  }
  return swept;
}

async function inBatches(
  closing: AbortSignal,
  deleteBatch: (limit: number) => Promise<number>,
): Promise<number> {
  let all = 0;
  for (let deleted = ROWS_PER_BATCH; deleted === ROWS_PER_BATCH && !closing.aborted; all += deleted) {
    deleted = await deleteBatch(ROWS_PER_BATCH);
  }
  return all;
}

async function overPages(
  closing: AbortSignal,
  doPage: (after: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  let after: string | undefined;
  do {
    after = await doPage(after);
  } while (after !== undefined && !closing.aborted);
}
