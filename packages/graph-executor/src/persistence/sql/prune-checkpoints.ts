import { TASKS } from "@langchain/langgraph-checkpoint";

/** Of the threads in $1, those with more than $2 checkpoints of their own graph. Reads at most $2 + 1 index entries of each; locks nothing. */
export function crowdedStatement(schema: string): string {
  return `
select t.thread_id from unnest($1::text[]) as t (thread_id)
where exists (
  select 1 from "${schema}".checkpoints c where c.thread_id = t.thread_id and c.checkpoint_ns = ''
  offset $2::int limit 1)`;
}

/** What decides which checkpoints of thread $1 are kept, without their values. Locks nothing. */
export function factsStatement(schema: string): string {
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
 * else: the caller keeps runs out of the thread meanwhile, because a run writes only the channels it changed and relies on the
 * blobs of the others.
 */
export function pruneStatement(schema: string): string {
  return counted(
    schema,
    `delete from "${schema}".checkpoints c using given d where ${SAME_CHECKPOINT("c")}
     returning c.checkpoint_ns, c.checkpoint, c.metadata`,
    `delete from "${schema}".checkpoint_writes c using given d where ${SAME_CHECKPOINT("c")} returning c.blob`,
    `delete from "${schema}".checkpoint_blobs b using unnamed u where ${SAME_BLOB} returning b.blob`,
  );
}

/** What `pruneStatement` would delete. */
export function measureStatement(schema: string): string {
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

/** All parts see the thread as it was before the statement: what stays is told apart by the ids given. */
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
