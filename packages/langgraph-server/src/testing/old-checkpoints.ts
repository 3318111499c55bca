import type pg from "pg";

/**
 * Puts `count` checkpoints of the year 2020 before a thread's first one, each with a value and a pending write of its own, as
 * a thread has them that ran for years.
 */
export async function addOldCheckpoints(pool: pg.Pool, threadId: string, count: number): Promise<void> {
  const id = "to_char(n, 'FM00000000') || '-0000-6000-8000-000000000000'";
  await pool.query(
    `update langgraph.checkpoints set parent_checkpoint_id = to_char($2::int, 'FM00000000') || '-0000-6000-8000-000000000000'
     where thread_id = $1 and checkpoint_ns = '' and parent_checkpoint_id is null`,
    [threadId, count],
  );
  await pool.query(
    `with newest as (
       select checkpoint, metadata from langgraph.checkpoints where thread_id = $1 and checkpoint_ns = ''
       order by checkpoint_id desc limit 1)
     insert into langgraph.checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
     select $1, '', ${id}, case when n > 1 then to_char(n - 1, 'FM00000000') || '-0000-6000-8000-000000000000' end,
       newest.checkpoint || jsonb_build_object('ts', '2020-01-01T00:00:00.000Z', 'id', ${id},
         'channel_versions', (newest.checkpoint -> 'channel_versions') || jsonb_build_object('messages', 'old ' || n)),
       newest.metadata
     from newest, generate_series(1, $2::int) n`,
    [threadId, count],
  );
  await pool.query(
    `insert into langgraph.checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
     select $1, '', 'messages', 'old ' || n, 'json', '[]'::bytea from generate_series(1, $2::int) n`,
    [threadId, count],
  );
  await pool.query(
    `insert into langgraph.checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
     select $1, '', ${id}, 'task', 0, 'messages', 'json', '[]'::bytea from generate_series(1, $2::int) n`,
    [threadId, count],
  );
}

export interface StoredRows {
  readonly checkpoints: number;
  readonly blobs: number;
  readonly writes: number;
}

export async function countRows(pool: pg.Pool, threadId: string): Promise<StoredRows> {
  const { rows } = await pool.query<StoredRows>(
    `select (select count(*) from langgraph.checkpoints where thread_id = $1)::int as checkpoints,
       (select count(*) from langgraph.checkpoint_blobs where thread_id = $1)::int as blobs,
       (select count(*) from langgraph.checkpoint_writes where thread_id = $1)::int as writes`,
    [threadId],
  );
  if (!rows[0]) throw new Error("a count gives a row");
  return rows[0];
}

/** Values that a stored checkpoint names and nothing holds. */
export async function missingBlobs(pool: pg.Pool, threadId: string): Promise<number> {
  const { rowCount } = await pool.query(
    `select 1 from langgraph.checkpoints c, jsonb_each_text(c.checkpoint -> 'channel_versions') v
     where c.thread_id = $1 and not exists (
       select 1 from langgraph.checkpoint_blobs b where b.thread_id = $1 and b.checkpoint_ns = c.checkpoint_ns
         and b.channel = v.key and b.version = v.value)`,
    [threadId],
  );
  return rowCount ?? 0;
}
