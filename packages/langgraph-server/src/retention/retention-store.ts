import type { CheckpointCounts, CheckpointRetention } from "@throughline/graph-executor";

export interface PruneOptions {
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** Counts what would go and deletes nothing. */
  readonly isDryRun?: boolean;
  /** Ends the page after the batch that is under way. */
  readonly closing?: AbortSignal;
  /** A thread that can't be pruned; the others go on. */
  readonly onFailure?: (error: unknown) => void;
}

export interface PrunedPage {
  readonly checkpoints: CheckpointCounts;
  /** Threads that had something to delete. */
  readonly threads: number;
  readonly next: string | undefined;
}

/** What a round would delete of the log and of runs. */
export interface MeasuredRows {
  readonly entries: number;
  readonly entryBytes: number;
  readonly runs: number;
  readonly threads: number;
}

/** What retention deletes beside the log and its runs. Every call is safe to repeat, and on several instances at once. */
export interface RetentionStore {
  /**
   * Prunes the checkpoints of a page of threads, of any account, in small batches. A thread with an open run is left to a
   * later round: its run relies on what it began with.
   */
  pruneCheckpoints(retention: CheckpointRetention, options: PruneOptions): Promise<PrunedPage>;
  /** Deletes rows of threads in which nothing ever started. Gives how many. */
  deleteUnstartedThreads(limit: number): Promise<number>;
  measure(maxAgeMs: number | undefined): Promise<MeasuredRows>;
}
