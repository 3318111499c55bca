import { MemorySaver, TASKS } from "@langchain/langgraph-checkpoint";
import { isJsonObject, read, readNumber, readString } from "@throughline/coerce";
import type pg from "pg";
import type { Checkpointer } from "./checkpointer.js";

/** How many checkpoints of a thread are retained. */
export interface CheckpointRetention {
  /** The newest of a thread, and of each subgraph that remembers from run to run. At least 1. */
  readonly keepNewest: number;
  /** Younger checkpoints are retained beyond that count; absent: the count alone decides. */
  readonly keepYoungerMs?: number;
}

/** The facts of a stored checkpoint that decide whether it is retained. */
export interface CheckpointFacts {
  /** Empty for the thread's own graph. */
  readonly ns: string;
  readonly id: string;
  readonly parentId: string | undefined;
  /** ISO 8601, by the clock of the instance that wrote it. */
  readonly at: string;
  /** A subgraph's root checkpoint, under which it ran. */
  readonly rootId: string | undefined;
  readonly hasWrites: boolean;
  /** Some channel's value is read from the parent: it holds what a delta channel replays, or sends of an old format. */
  readonly needsParent: boolean;
}

/** Rows that were deleted, or would be, and what their values take. */
export interface CheckpointCounts {
  readonly checkpoints: number;
  readonly blobs: number;
  readonly writes: number;
  readonly bytes: number;
}

export const NO_CHECKPOINTS: CheckpointCounts = { checkpoints: 0, blobs: 0, writes: 0, bytes: 0 };

export function addCheckpointCounts(a: CheckpointCounts, b: CheckpointCounts): CheckpointCounts {
  return {
    checkpoints: a.checkpoints + b.checkpoints,
    blobs: a.blobs + b.blobs,
    writes: a.writes + b.writes,
    bytes: a.bytes + b.bytes,
  };
}

/**
 * The checkpoints of one thread that its retention deletes, oldest first. `all` is the whole thread. Retained, in addition to
 * the newest and the young:
 *
 * - the end of a branch with pending writes: an open interrupt, or tasks that are not done;
 * - the point where two retained branches part;
 * - the subgraphs' checkpoints below a retained one: a task that is resumed reads them. Each task of a subgraph has a namespace of
 *   its own, so a count per namespace would retain all of them;
 * - the parent of a retained one that is read with it (`needsParent`). No other parent is: LangGraph reads a checkpoint by its id,
 *   and uses the parent's id as a name only.
 */
export function prunableCheckpoints(
  all: readonly CheckpointFacts[],
  { keepNewest, keepYoungerMs }: CheckpointRetention,
  now: number,
): readonly CheckpointFacts[] {
  const newestFirst = [...all].sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0));
  const byKey = new Map(newestFirst.map((checkpoint) => [keyOf(checkpoint.ns, checkpoint.id), checkpoint]));
  const children = new Map<string, CheckpointFacts[]>();
  for (const checkpoint of newestFirst) {
    const parent = parentKey(checkpoint);
    if (parent === undefined) continue;
    const siblings = children.get(parent);
    if (siblings) siblings.push(checkpoint);
    else children.set(parent, [checkpoint]);
  }
  const retainedKeys = new Set<string>();

  /** Retains a checkpoint with every parent that is read with it. */
  function retain(checkpoint: CheckpointFacts): void {
    let next: CheckpointFacts | undefined = checkpoint;
    while (next && !retainedKeys.has(keyOf(next.ns, next.id))) {
      retainedKeys.add(keyOf(next.ns, next.id));
      const parent: string | undefined = next.needsParent ? parentKey(next) : undefined;
      next = parent === undefined ? undefined : byKey.get(parent);
    }
  }

  const ranks = new Map<string, number>();
  for (const checkpoint of newestFirst.filter(({ ns, rootId }) => isLasting(ns) || rootId === undefined)) {
    const { ns, id, at, hasWrites } = checkpoint;
    const rank = (ranks.get(ns) ?? 0) + 1;
    ranks.set(ns, rank);
    // A time that can't be parsed gives no age.
    const isYoung = keepYoungerMs !== undefined && !(now - Date.parse(at) >= keepYoungerMs);
    const isOpen = hasWrites && !children.has(keyOf(ns, id));
    if (rank <= Math.max(1, keepNewest) || isYoung || isOpen) retain(checkpoint);
  }
  for (const [parent, branches] of children) {
    const base = byKey.get(parent);
    const retainedBranches = branches.filter(({ ns, id }) => retainedKeys.has(keyOf(ns, id)));
    if (base && retainedBranches.length > 1) retain(base);
  }
  for (const checkpoint of newestFirst) {
    const { ns, rootId } = checkpoint;
    if (ns !== "" && rootId !== undefined && retainedKeys.has(keyOf("", rootId))) retain(checkpoint);
  }
  return newestFirst.filter(({ ns, id }) => !retainedKeys.has(keyOf(ns, id))).reverse();
}

/** LangGraph names a subgraph that remembers without the ids of its tasks. */
function isLasting(ns: string): boolean {
  return !ns.includes(":");
}

function keyOf(ns: string, id: string): string {
  return `${ns}\n${id}`;
}

function parentKey({ ns, parentId }: CheckpointFacts): string | undefined {
  return parentId === undefined ? undefined : keyOf(ns, parentId);
}

type Queries = Pick<pg.ClientBase, "query">;

export interface PruneRequest {
  /** The schema of the checkpointer's tables. */
  readonly schema: string;
  readonly threadId: string;
  readonly retention: CheckpointRetention;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** Threads that have more checkpoints than are retained by count; the others have nothing to prune. */
export async function prunableThreads(
  queries: Pick<pg.Pool, "query">,
  schema: string,
  threadIds: readonly string[],
  { keepNewest }: CheckpointRetention,
): Promise<readonly string[]> {
  if (threadIds.length === 0) return [];
  const { rows } = await queries.query<{ thread_id: string }>(prunableStatement(schema), [
    threadIds,
    keepNewest,
  ]);
  return rows.map(({ thread_id }) => thread_id);
}

/**
 * Deletes up to `limit` checkpoints of a thread that its retention releases, with the values only they use. To be called in a
 * transaction that blocks runs of the thread until it ends. `isDone`: no more are left.
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

/** Counts what pruning the thread would delete. */
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

/**
 * Finds threads in $1 with more than $2 checkpoints of their own graph. Reads at most $2 + 1 index entries of each; locks nothing.
 */
function prunableStatement(schema: string): string {
  return `
select t.thread_id from unnest($1::text[]) as t (thread_id)
where exists (
  select 1 from "${schema}".checkpoints c where c.thread_id = t.thread_id and c.checkpoint_ns = ''
  offset $2::int limit 1)`;
}

/** Reads the facts of thread $1's checkpoints for its retention, without their values. Locks nothing. */
function factsStatement(schema: string): string {
  return `
select c.checkpoint_ns as ns, c.checkpoint_id as id, c.parent_checkpoint_id as "parentId",
  coalesce(c.checkpoint ->> 'ts', '') as at, c.metadata -> 'parents' ->> '' as "rootId",
  exists (
    select 1 from "${schema}".checkpoint_writes w where w.thread_id = c.thread_id
      and w.checkpoint_ns = c.checkpoint_ns and w.checkpoint_id = c.checkpoint_id) as "hasWrites",
  coalesce(c.metadata -> 'counters_since_delta_snapshot', '{}') <> '{}'
    or (c.checkpoint -> 'v' < '4' and exists (
      select 1 from "${schema}".checkpoint_writes w where w.thread_id = c.thread_id
        and w.checkpoint_ns = c.checkpoint_ns and w.checkpoint_id = c.parent_checkpoint_id
        and w.channel = '${TASKS}')) as "needsParent"
from "${schema}".checkpoints c where c.thread_id = $1`;
}

/**
 * Deletes the checkpoints ($2 namespaces, $3 ids) of thread $1, their pending writes, and the blobs that no other checkpoint
 * of the thread names. One statement, so that no reader and no crash finds half of it. It locks the rows it deletes and nothing
 * else: the caller blocks runs of the thread meanwhile, because a run writes only the channels it changed and relies on the
 * blobs of the others.
 */
function pruneStatement(schema: string): string {
  return counted(
    schema,
    `delete from "${schema}".checkpoints c using given d where ${SAME_CHECKPOINT("c")}
     returning c.checkpoint_ns, c.checkpoint, c.metadata`,
    `delete from "${schema}".checkpoint_writes c using given d where ${SAME_CHECKPOINT("c")} returning c.blob`,
    `delete from "${schema}".checkpoint_blobs b using unnamed u where ${SAME_BLOB} returning b.blob`,
  );
}

/** Counts what `pruneStatement` would delete. */
function measureStatement(schema: string): string {
  return counted(
    schema,
    `select c.checkpoint_ns, c.checkpoint, c.metadata from "${schema}".checkpoints c, given d where ${SAME_CHECKPOINT("c")}`,
    `select c.blob from "${schema}".checkpoint_writes c, given d where ${SAME_CHECKPOINT("c")}`,
    `select b.blob from "${schema}".checkpoint_blobs b, unnamed u where ${SAME_BLOB}`,
  );
}

const SAME_CHECKPOINT = (alias: string) =>
  `${alias}.thread_id = $1 and ${alias}.checkpoint_ns = d.ns and ${alias}.checkpoint_id = d.id`;
const SAME_BLOB =
  "b.thread_id = $1 and b.checkpoint_ns = u.ns and b.channel = u.channel and b.version = u.version";

/** All parts see the thread as it was before the statement: the ids given separate what remains. */
function counted(schema: string, checkpoints: string, writes: string, blobs: string): string {
  return `
with given as (
  select * from unnest($2::text[], $3::text[]) as g (ns, id)
), gone as (
  ${checkpoints}
), gone_writes as (
  ${writes}
), unnamed as (
  select g.checkpoint_ns as ns, v.key as channel, v.value as version
  from gone g, jsonb_each_text(g.checkpoint -> 'channel_versions') v
  except
  select c.checkpoint_ns, v.key, v.value
  from "${schema}".checkpoints c, jsonb_each_text(c.checkpoint -> 'channel_versions') v
  where c.thread_id = $1 and c.checkpoint_ns in (select ns from given)
    and not exists (select 1 from given d where ${SAME_CHECKPOINT("c")})
), gone_blobs as (
  ${blobs}
)
select
  (select count(*) from gone)::int as checkpoints,
  (select count(*) from gone_writes)::int as writes,
  (select count(*) from gone_blobs)::int as blobs,
  (select coalesce(sum(pg_column_size(checkpoint) + pg_column_size(metadata)), 0) from gone)
    + (select coalesce(sum(octet_length(blob)), 0) from gone_writes)
    + (select coalesce(sum(octet_length(blob)), 0) from gone_blobs) as bytes`;
}

export interface MemoryPruneRequest {
  readonly threadId: string;
  readonly retention: CheckpointRetention;
  readonly now: number;
  /** Counts what would go and deletes nothing. */
  readonly isDryRun: boolean;
}

/**
 * Deletes checkpoints that a thread's retention releases from a saver in memory, in one go: nothing else runs
 * meanwhile. Values lie within their checkpoints there, so there are no blobs.
 */
export function pruneMemoryCheckpoints(
  { saver }: Checkpointer,
  { threadId, retention, now, isDryRun }: MemoryPruneRequest,
): CheckpointCounts {
  if (!(saver instanceof MemorySaver)) return NO_CHECKPOINTS;
  const { storage, writes } = saver;
  const namespaces = storage[threadId] ?? {};
  const writesAt = (ns: string, id: string) =>
    Object.values(writes[JSON.stringify([threadId, ns, id])] ?? {});
  const all = Object.entries(namespaces).flatMap(([ns, checkpoints]) =>
    Object.entries(checkpoints).map(([id, [checkpoint, metadata, parentId]]): CheckpointFacts => {
      const stored = parsed(checkpoint);
      const about = parsed(metadata);
      const counters = read(about, "counters_since_delta_snapshot");
      const parentWrites = parentId === undefined ? [] : writesAt(ns, parentId);
      return {
        ns,
        id,
        parentId,
        at: readString(stored, "ts") ?? "",
        rootId: readString(read(about, "parents"), ""),
        hasWrites: writesAt(ns, id).length > 0,
        needsParent:
          (isJsonObject(counters) && Object.keys(counters).length > 0) ||
          ((readNumber(stored, "v") ?? 4) < 4 && parentWrites.some(([, channel]) => channel === TASKS)),
      };
    }),
  );
  let counts = NO_CHECKPOINTS;
  for (const { ns, id } of prunableCheckpoints(all, retention, now)) {
    const [checkpoint, metadata] = namespaces[ns]?.[id] ?? [];
    const gone = writesAt(ns, id);
    const bytes = [checkpoint, metadata, ...gone.map(([, , value]) => value)];
    counts = {
      checkpoints: counts.checkpoints + 1,
      blobs: 0,
      writes: counts.writes + gone.length,
      bytes: bytes.reduce((sum, part) => sum + (part?.byteLength ?? 0), counts.bytes),
    };
    if (isDryRun) continue;
    delete namespaces[ns]?.[id];
    delete writes[JSON.stringify([threadId, ns, id])];
  }
  return counts;
}

function parsed(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes));
}
