import {
  addCheckpointCounts,
  type Checkpointer,
  NO_CHECKPOINTS,
  pruneMemoryCheckpoints,
} from "@throughline/graph-executor";
import { type MemoryDatabase, threadKey } from "@throughline/thread-log";
import type { RetentionStore } from "./retention-store.js";

/** By then a stop that made the thread has expired. */
const STOPS_EXPIRED_MS = 3_600_000;

/** In memory everything is one page, and nothing starts while it is pruned. */
export function createMemoryRetentionStore(
  database: MemoryDatabase,
  checkpointer: Checkpointer,
): RetentionStore {
  return {
    async pruneCheckpoints(retention, { isDryRun = false }) {
      const busy = new Set(
        [...database.runs.values()]
          .filter(({ status }) => status === "running" || status === "queued")
          .map(({ thread }) => threadKey(thread)),
      );
      const counts = [...database.threads.values()]
        .filter(({ thread }) => !busy.has(threadKey(thread)))
        .map(({ thread: { threadId } }) =>
          pruneMemoryCheckpoints(checkpointer, {
            threadId,
            retention,
            now: database.clock.now(),
            isDryRun,
          }),
        );
      return {
        checkpoints: counts.reduce(addCheckpointCounts, NO_CHECKPOINTS),
        threads: counts.filter(({ checkpoints }) => checkpoints > 0).length,
        next: undefined,
      };
    },
    async deleteUnstartedThreads(limit) {
      const started = new Set([...database.runs.values()].map(({ thread }) => threadKey(thread)));
      const unstarted = [...database.threads].filter(
        ([key, { fence, createdAt }]) =>
          fence === 0n && createdAt < database.clock.now() - STOPS_EXPIRED_MS && !started.has(key),
      );
      for (const [key] of unstarted.slice(0, limit)) database.threads.delete(key);
      return Math.min(limit, unstarted.length);
    },
    measure: async () => ({ entries: 0, entryBytes: 0, runs: 0, threads: 0 }),
  };
}
