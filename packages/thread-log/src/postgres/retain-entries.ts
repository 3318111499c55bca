import type pg from "pg";
import type { AgingPage } from "../port/log-store.js";
import { pageLimit } from "../port/page-token.js";
import type { PageOptions, RetentionPolicy, TrimResult } from "../port/thread-log.js";
import { subjectKey, type ThreadRef } from "../port/thread-ref.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { dropTemplatesStatement } from "./sql/drop-templates.js";
import {
  deleteSnapshotsStatement,
  deleteTerminalsStatement,
  deleteTrimmedStatement,
  hasTrimmedEntries,
  raiseFloorStatement,
} from "./sql/trim-entries.js";

/** Counting costs nothing; bytes are summed only once the row's own total exceeds the bound; age reads the thread's entries. */
export async function findExcess(
  { pool, schema }: PostgresDatabase,
  thread: ThreadRef,
  { maxEntries, maxBytes, maxAgeMs }: RetentionPolicy,
): Promise<{ epoch: string; through: number } | undefined> {
  const { rows } = await pool.query<{ epoch: string; floor: string; through: string | null }>(
    `select t.epoch, t.floor, greatest(
       t.head - $4::bigint,
       case when t.held_bytes > $5::bigint then (
         select max(seq) from (
           select seq, sum(bytes) over (order by seq desc) as total from ${schema}.log_entries e
           where e.log_id = t.log_id
         ) sums where total > $5::bigint
       ) end,
       case when $6::double precision is not null then (
         select max(seq) from ${schema}.log_entries e where e.log_id = t.log_id
           and e.at < clock_timestamp() - $6::double precision * interval '1 millisecond'
       ) end
     ) as through
     from ${schema}.threads t where t.account = $1 and t.subject = $2 and t.thread_id = $3`,
    [...keyOf(thread), maxEntries ?? null, maxBytes ?? null, maxAgeMs ?? null],
  );
  const row = rows[0];
  if (!row) return undefined;
  // Below the floor only terminals are left, which stay.
  const through = Number(row.through);
  return { epoch: row.epoch, through: through < Number(row.floor) ? 0 : through };
}

/**
 * By the number of the thread's row, which only grows. Of a thread that is old enough only the oldest entry is looked at: it
 * is one index lookup, where `findExcess` would read them all. Threads whose trim was interrupted count, too.
 */
export async function findAging(
  { pool, schema }: PostgresDatabase,
  maxAgeMs: number,
  { after, limit }: PageOptions,
): Promise<AgingPage> {
  const size = pageLimit(limit);
  const { rows } = await pool.query<{
    log_id: string;
    account: string;
    subject: string;
    thread_id: string;
  }>(
    `with past as (select clock_timestamp() - $1::double precision * interval '1 millisecond' as moment)
     select t.log_id, t.account, t.subject, t.thread_id from ${schema}.threads t, past
     where t.log_id > $2::bigint and t.created_at < past.moment
       and ((
         select e.at from ${schema}.log_entries e where e.log_id = t.log_id and e.seq >= t.floor
         order by e.seq limit 1) < past.moment or t.floor > 1 and ${hasTrimmedEntries(schema)})
     order by t.log_id limit $3`,
    [maxAgeMs, after ?? "0", size + 1],
  );
  const found = rows.slice(0, size);
  return {
    threads: found.map((row) => ({
      account: row.account,
      ...(row.subject === "" ? {} : { subject: row.subject }),
      threadId: row.thread_id,
    })),
    next: rows.length > size ? found.at(-1)?.log_id : undefined,
  };
}

export interface Trim {
  readonly thread: ThreadRef;
  readonly epoch: string;
  readonly through: number;
  readonly maxTerminals: number;
}

/** Entries deleted by one statement: it holds no lock that an append needs, but the disk is shared. */
const BATCH = 5_000;

/**
 * Raises the floor first, then deletes what is below it in small batches. A trim that is interrupted in between leaves entries
 * that no read returns; the next trim of the thread deletes them, and `findAging` finds it.
 */
export async function trimEntries(
  { pool, schema }: PostgresDatabase,
  { thread, epoch, through, maxTerminals }: Trim,
): Promise<TrimResult> {
  await pool.query(raiseFloorStatement(schema), [...keyOf(thread), epoch, through]);
  const { rows } = await pool.query<{ log_id: string; floor: string; is_same: boolean }>(
    `select log_id, floor, epoch = $4 as is_same from ${schema}.threads
     where account = $1 and subject = $2 and thread_id = $3`,
    [...keyOf(thread), epoch],
  );
  const [row] = rows;
  if (!row) return { dropped: 0, floor: 1 };
  const floor = Number(row.floor);
  if (!row.is_same || floor === 1) return { dropped: 0, floor };
  const log = [row.log_id, epoch];
  const entries = await deleteTrimmed(pool, schema, log);
  const terminals = await pool.query(deleteTerminalsStatement(schema), [...log, maxTerminals]);
  await pool.query(dropTemplatesStatement(schema), log);
  await pool.query(deleteSnapshotsStatement(schema), log);
  return { dropped: entries + (terminals.rowCount ?? 0), floor };
}

interface BatchRow {
  readonly dropped: number;
  readonly found: number;
  readonly last: string | null;
}

async function deleteTrimmed(pool: pg.Pool, schema: string, log: readonly string[]): Promise<number> {
  let dropped = 0;
  for (let after = "0"; ; ) {
    const { rows } = await pool.query<BatchRow>(deleteTrimmedStatement(schema), [...log, after, BATCH]);
    const [batch] = rows;
    dropped += batch?.dropped ?? 0;
    if (!batch?.last || batch.found < BATCH) return dropped;
    after = batch.last;
  }
}

function keyOf(thread: ThreadRef): readonly [string, string, string] {
  return [thread.account, subjectKey(thread), thread.threadId];
}
