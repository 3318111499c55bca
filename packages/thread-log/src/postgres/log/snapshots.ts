import type { Json } from "@throughline/ai-core";
import { expendableSnapshot } from "../../log/snapshots.js";
import type { Snapshot } from "../../log/thread-log.js";
import { subjectKey, type ThreadRef } from "../../thread-ref.js";
import type { PostgresDatabase } from "../database.js";

export async function loadSnapshot(
  { pool, schema }: PostgresDatabase,
  thread: ThreadRef,
  foldVersions: readonly number[],
  notAfter: number | undefined,
): Promise<Snapshot | undefined> {
  const { rows } = await pool.query<{
    epoch: string;
    seq: string;
    fold_version: number;
    state: string;
  }>(
    `select t.epoch, s.seq, s.fold_version, s.state from ${schema}.threads t join ${schema}.snapshots s using (log_id)
     where t.account = $1 and t.subject = $2 and t.thread_id = $3 and s.fold_version = any($4::int[]) and s.seq + 1 >= t.floor
       and ($5::bigint is null or s.seq <= $5)
     order by s.seq desc, s.fold_version desc limit 1`,
    [...keyOf(thread), foldVersions, notAfter ?? null],
  );
  const row = rows[0];
  return (
    row && {
      position: { epoch: row.epoch, seq: Number(row.seq) },
      foldVersion: row.fold_version,
      // Ours alone to write; a fold decides by its version whether it can read it.
      state: JSON.parse(row.state) as Json,
    }
  );
}

/**
 * `false` when there is a newer one, or the thread is no longer in that epoch. Holds the thread's row for one statement: the
 * state travels before, and what it no longer covers is summed by index.
 */
export async function saveSnapshot(
  { pool, schema }: PostgresDatabase,
  thread: ThreadRef,
  { position, foldVersion, state }: Snapshot,
): Promise<boolean> {
  const { rows } = await pool.query<{ log_id: string; older: string[] | null }>(
    `with here as (
       select log_id from ${schema}.threads
       where account = $1 and subject = $2 and thread_id = $3 and epoch = $4 and floor <= $5::bigint + 1 and not deleted
         and head >= $5
         -- Not within what was merged: entries behind it would be told twice.
         and ($5 >= compacted or $5 < floor or exists (
           select 1 from ${schema}.log_entries e where e.log_id = threads.log_id and e.seq = $5))
       for update
     ), known as (
       select s.seq from ${schema}.snapshots s join here using (log_id) where s.fold_version = $6::int
     ), saved as (
       insert into ${schema}.snapshots (log_id, fold_version, seq, state)
       select log_id, $6, $5, $7::text from here where not exists (select 1 from known where seq >= $5)
       on conflict do nothing
       returning log_id, seq
     )
     update ${schema}.threads t
     set snapshot_seq = greatest(t.snapshot_seq, saved.seq),
       unfolded_bytes = case when saved.seq <= t.snapshot_seq then t.unfolded_bytes else
         (select coalesce(sum(bytes), 0) from ${schema}.log_entries e where e.log_id = t.log_id and e.seq > saved.seq) end
     from saved where t.log_id = saved.log_id
     returning t.log_id, (select array_agg(seq order by seq desc) from known) as older`,
    [...keyOf(thread), position.epoch, position.seq, foldVersion, JSON.stringify(state)],
  );
  const [row] = rows;
  if (!row) return false;
  const spare = expendableSnapshot([position.seq, ...(row.older ?? []).map(Number)]);
  if (spare !== undefined) {
    await pool.query(`delete from ${schema}.snapshots where log_id = $1 and fold_version = $2 and seq = $3`, [
      row.log_id,
      foldVersion,
      spare,
    ]);
  }
  return true;
}

function keyOf(thread: ThreadRef): readonly [string, string, string] {
  return [thread.account, subjectKey(thread), thread.threadId];
}
