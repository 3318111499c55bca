import { isStoreOutage } from "@throughline/ai-core";
import {
  addCheckpointCounts,
  type CheckpointCounts,
  type CheckpointRetention,
  crowdedThreads,
  measurePrunable,
  NO_CHECKPOINTS,
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
import type { RetentionStore } from "./retention-store.js";

const THREADS_PER_PAGE = 500;
/** A start in the thread waits for one batch at the most. */
const CHECKPOINTS_PER_BATCH = 1_000;
const STATEMENT_MS = 60_000;

export function createPostgresRetentionStore(
  database: PostgresDatabase,
  /** Of the checkpointer's tables, in the same database. */
  checkpointSchema = "langgraph",
): RetentionStore {
  const { pool, schema } = database;

  /** R18: ages go by the database's clock. */
  async function readClock(): Promise<number> {
    const { rows } = await pool.query<{ now: number }>(
      "select (extract(epoch from clock_timestamp()) * 1000)::double precision as now",
    );
    return rows[0]?.now ?? 0;
  }

  /** One batch. Starts of runs wait for its lock, so none relies on what it deletes. */
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
      const crowded = new Set(await crowdedThreads(pool, checkpointSchema, ids, retention));
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
