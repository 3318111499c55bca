import { isStoreOutage } from "@throughline/ai-core";
import {
  addCheckpointCounts,
  type CheckpointCounts,
  type CheckpointRetention,
  measurePrunable,
  NO_CHECKPOINTS,
  prunableThreads,
  pruneCheckpoints,
} from "@throughline/graph-executor";
import {
  deleteUnstartedThreads,
  everyThread,
  inTransaction,
  lockIdleThread,
  measureRetention,
  type PostgresDatabase,
  type ThreadRef,
} from "@throughline/thread-log";

export interface PruneOptions {
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** Counts the rows and deletes nothing. */
  readonly isDryRun?: boolean;
  /** Ends the page after the batch in progress. */
  readonly closing?: AbortSignal;
  /** Called for a thread that can't be pruned; the others go on. */
  readonly onFailure?: (error: unknown) => void;
}

export interface PrunedPage {
  readonly checkpoints: CheckpointCounts;
  /** Threads that had something to delete. */
  readonly threads: number;
  readonly next: string | undefined;
}

/** The rows of the log and of runs that a round would delete. */
export interface MeasuredRows {
  readonly entries: number;
  readonly entryBytes: number;
  readonly runs: number;
  readonly threads: number;
}

/** Deletes rows other than the log's and its runs' for retention. Every call is idempotent, also on several instances at once. */
export interface RetentionStore {
  /**
   * Prunes the checkpoints of a page of threads, of any account, in small batches. A thread with an open run is left to a
   * later round: its run relies on the checkpoints it began with.
   */
  pruneCheckpoints(retention: CheckpointRetention, options: PruneOptions): Promise<PrunedPage>;
  /** Deletes rows of threads without any run. Returns their number. */
  deleteUnstartedThreads(limit: number): Promise<number>;
  measure(maxAgeMs: number | undefined): Promise<MeasuredRows>;
}

const THREADS_PER_PAGE = 500;
/** The size of a batch: a start in the thread waits for at most one. */
const CHECKPOINTS_PER_BATCH = 1_000;
const STATEMENT_MS = 60_000;

export function createPostgresRetentionStore(
  database: PostgresDatabase,
  /** The schema of the checkpointer's tables, in the same database. */
  checkpointSchema = "langgraph",
): RetentionStore {
  const { pool, schema } = database;

  /** R18: ages use the database's clock. */
  async function readClock(): Promise<number> {
    const { rows } = await pool.query<{ now: number }>(
      "select (extract(epoch from clock_timestamp()) * 1000)::double precision as now",
    );
    return rows[0]?.now ?? 0;
  }

  /** Prunes one batch. Starts of runs wait for its lock, so none relies on rows that it deletes. */
  function pruneBatch(thread: ThreadRef, retention: CheckpointRetention, now: number) {
    return inTransaction(
      pool,
      async (client) => {
        const isIdle = await lockIdleThread(client, schema, thread);
        if (!isIdle) return { deleted: NO_CHECKPOINTS, isDone: true };
        const request = { schema: checkpointSchema, threadId: thread.threadId, retention, now };
        return pruneCheckpoints(client, request, CHECKPOINTS_PER_BATCH);
      },
      { statementMs: STATEMENT_MS },
    );
  }

  async function pruneThread(
    thread: ThreadRef,
    retention: CheckpointRetention,
    now: number,
    closing: AbortSignal | undefined,
  ): Promise<CheckpointCounts> {
    let counts = NO_CHECKPOINTS;
    for (let isOver = false; !isOver && !closing?.aborted; ) {
      const { deleted, isDone } = await pruneBatch(thread, retention, now);
      counts = addCheckpointCounts(counts, deleted);
      isOver = isDone;
    }
    return counts;
  }

  return {
    async pruneCheckpoints(retention, { after, isDryRun = false, closing, onFailure }) {
      const { threads, next } = await everyThread(database, { after, limit: THREADS_PER_PAGE });
      const ids = threads.map(({ threadId }) => threadId);
      const crowded = new Set(await prunableThreads(pool, checkpointSchema, ids, retention));
      const now = await readClock();
      let checkpoints = NO_CHECKPOINTS;
      let pruned = 0;
      for (const thread of threads.filter(({ threadId }) => crowded.has(threadId))) {
        if (closing?.aborted) break;
        try {
          const { threadId } = thread;
          const counts = isDryRun
            ? await measurePrunable(pool, { schema: checkpointSchema, threadId, retention, now })
            : await pruneThread(thread, retention, now, closing);
          checkpoints = addCheckpointCounts(checkpoints, counts);
          if (counts.checkpoints > 0) pruned += 1;
        } catch (error) {
          if (isStoreOutage(error)) throw error;
          onFailure?.(error);
        }
      }
      return { checkpoints, threads: pruned, next };
    },
    deleteUnstartedThreads: (limit) => deleteUnstartedThreads(database, limit),
    measure: (maxAgeMs) => measureRetention(database, maxAgeMs),
  };
}
