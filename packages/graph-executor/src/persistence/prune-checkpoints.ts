import type pg from "pg";
import {
  type CheckpointCounts,
  type CheckpointFacts,
  type CheckpointRetention,
  NO_CHECKPOINTS,
  prunableCheckpoints,
} from "./checkpoint-retention.js";
import {
  crowdedStatement,
  factsStatement,
  measureStatement,
  pruneStatement,
} from "./sql/prune-checkpoints.js";

type Queries = Pick<pg.ClientBase, "query">;

export interface PruneRequest {
  /** Of the checkpointer's tables. */
  readonly schema: string;
  readonly threadId: string;
  readonly retention: CheckpointRetention;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** Threads that have more checkpoints than are kept by count; the others have nothing to prune. */
export async function crowdedThreads(
  queries: Pick<pg.Pool, "query">,
  schema: string,
  threadIds: readonly string[],
  { keepNewest }: CheckpointRetention,
): Promise<readonly string[]> {
  if (threadIds.length === 0) return [];
  const { rows } = await queries.query<{ thread_id: string }>(crowdedStatement(schema), [
    threadIds,
    keepNewest,
  ]);
  return rows.map(({ thread_id }) => thread_id);
}

/**
 * Deletes up to `limit` checkpoints of a thread that its retention lets go of, with what only they use. To be called in a
 * transaction that keeps runs out of the thread until it ends. `isDone`: no more are left.
 */
export async function pruneCheckpoints(
  client: Queries,
  request: PruneRequest,
  limit: number,
): Promise<{ readonly deleted: CheckpointCounts; readonly isDone: boolean }> {
  const prunable = await findPrunable(client, request);
  const batch = prunable.slice(0, limit);
  return {
    deleted: await count(client, pruneStatement(request.schema), request, batch),
    isDone: batch.length === prunable.length,
  };
}

/** What pruning the thread would delete. */
export async function measurePrunable(client: Queries, request: PruneRequest): Promise<CheckpointCounts> {
  return count(client, measureStatement(request.schema), request, await findPrunable(client, request));
}

async function findPrunable(
  client: Queries,
  { schema, threadId, retention, now }: PruneRequest,
): Promise<readonly CheckpointFacts[]> {
  const { rows } = await client.query<FactsRow>(factsStatement(schema), [threadId]);
  const all = rows.map((row) => ({
    ...row,
    parentId: row.parentId ?? undefined,
    rootId: row.rootId ?? undefined,
  }));
  return prunableCheckpoints(all, retention, now);
}

type FactsRow = Omit<CheckpointFacts, "parentId" | "rootId"> & {
  readonly parentId: string | null;
  readonly rootId: string | null;
};

async function count(
  client: Queries,
  statement: string,
  { threadId }: PruneRequest,
  checkpoints: readonly CheckpointFacts[],
): Promise<CheckpointCounts> {
  if (checkpoints.length === 0) return NO_CHECKPOINTS;
  const { rows } = await client.query<Omit<CheckpointCounts, "bytes"> & { readonly bytes: string }>(
    statement,
    [threadId, checkpoints.map(({ ns }) => ns), checkpoints.map(({ id }) => id)],
  );
  const [row] = rows;
  return row ? { ...row, bytes: Number(row.bytes) } : NO_CHECKPOINTS;
}
