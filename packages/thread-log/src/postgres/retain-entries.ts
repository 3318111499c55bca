import type pg from "pg";
import type { AgingPage } from "../port/log-store.js";
import { pageLimit } from "../port/page-token.js";
import type { PageOptions, RetentionPolicy, TrimResult } from "../port/thread-log.js";
import { subjectKey, type ThreadRef } from "../port/thread-ref.js";
import { BULK_MS } from "./deadlines.js";
import { inTransaction } from "./in-transaction.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { dropTemplatesStatement } from "./sql/drop-templates.js";

/** Counting costs nothing; bytes are summed only once the row's own total exceeds the bound; age reads the thread's entries. */
export async function findExcess(
  { pool, schema }: PostgresDatabase,
  thread: ThreadRef,
  { maxEntries, maxBytes, maxAgeMs }: RetentionPolicy,
): Promise<{ epoch: string; through: number } | undefined> {
  const { rows } = await pool.query<{ epoch: string; floor: string; through: string }>(
    `select t.epoch, t.floor, greatest(
       t.head - $4::bigint,
       case when t.held_bytes > $5::bigint then (
         select max(seq) from (
           select seq, sum(bytes) over (order by seq desc) as total from ${schema}.log_entries e
           where e.log_id = t.log_id and e.seq >= t.floor
         ) sums where total > $5::bigint
       ) end,
       case when $6::double precision is not null then (
         select max(seq) from ${schema}.log_entries e where e.log_id = t.log_id and e.seq >= t.floor
           and e.at < clock_timestamp() - $6::double precision * interval '1 millisecond'
       ) end,
       0
     ) as through
     from ${schema}.threads t where t.account = $1 and t.subject = $2 and t.thread_id = $3`,
    [...keyOf(thread), maxEntries ?? null, maxBytes ?? null, maxAgeMs ?? null],
  );
  const row = rows[0];
  if (!row) return undefined;
  const through = Number(row.through);
  return { epoch: row.epoch, through: through < Number(row.floor) ? 0 : through };
}

/**
 * By the number of the thread's row, which only grows. Of a thread that is old enough only the oldest entry is looked at: it
 * is one index lookup, where `findExcess` would read them all. Entries that are kept elsewhere can't be looked at: there
 * every thread counts that was not trimmed up to what is known of it, which is nothing before its first terminal.
 */
export async function findAging(
  { pool, schema }: PostgresDatabase,
  maxAgeMs: number,
  { after, limit }: PageOptions,
  { entriesElsewhere = false }: { readonly entriesElsewhere?: boolean } = {},
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
     where t.log_id > $2::bigint and not t.deleted and t.fence > 0 and t.created_at < past.moment
       and case when $3 then t.floor <= t.head or t.head = 0 else (
         select e.at from ${schema}.log_entries e where e.log_id = t.log_id and e.seq >= t.floor
         order by e.seq limit 1) < past.moment end
     order by t.log_id limit $4`,
    [maxAgeMs, after ?? "0", entriesElsewhere, size + 1],
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

export async function trimEntries(
  { pool, schema }: PostgresDatabase,
  { thread, epoch, through, maxTerminals }: Trim,
): Promise<TrimResult> {
  /** What was merged by compaction goes or stays as a whole. Asked under the lock, so that it sees the last compaction. */
  async function wholeUpTo(client: pg.PoolClient, logId: string, seq: number): Promise<number> {
    const { rows } = await client.query<{ seq: string | null }>(
      `select max(seq) as seq from ${schema}.log_entries where log_id = $1 and seq <= $2`,
      [logId, seq],
    );
    return Number(rows[0]?.seq ?? 0);
  }
  const cutOff = async (client: pg.PoolClient): Promise<TrimResult> => {
    const { rows } = await client.query<{ log_id: string; floor: string; compacted: string; cut: string }>(
      `select log_id, floor, compacted, case when epoch = $4 then least($5::bigint, snapshot_seq) else 0 end as cut
       from ${schema}.threads where account = $1 and subject = $2 and thread_id = $3 for update`,
      [...keyOf(thread), epoch, through],
    );
    const row = rows[0];
    if (!row) return { dropped: 0, floor: 1 };
    const floor = Number(row.floor);
    const wanted = Number(row.cut);
    const cut = wanted < Number(row.compacted) ? await wholeUpTo(client, row.log_id, wanted) : wanted;
    if (cut < floor) return { dropped: 0, floor };
    const rest = await client.query(
      `delete from ${schema}.log_entries where log_id = $1 and seq >= $2 and seq <= $3 and end_of_run is null`,
      [row.log_id, floor, cut],
    );
    const terminals = await client.query(
      `delete from ${schema}.log_entries where log_id = $1 and seq <= $2 and end_of_run is not null and seq <= (
         select seq from ${schema}.log_entries where log_id = $1 and seq <= $2 and end_of_run is not null
         order by seq desc offset $3 limit 1)`,
      [row.log_id, cut, maxTerminals],
    );
    await client.query(dropTemplatesStatement(schema), [row.log_id, cut]);
    await client.query(`delete from ${schema}.snapshots where log_id = $1 and seq < $2`, [row.log_id, cut]);
    await client.query(
      `update ${schema}.threads set floor = $2::bigint + 1, held_bytes =
         (select coalesce(sum(bytes), 0) from ${schema}.log_entries where log_id = $1 and seq > $2) where log_id = $1`,
      [row.log_id, cut],
    );
    return { dropped: (rest.rowCount ?? 0) + (terminals.rowCount ?? 0), floor: cut + 1 };
  };
  return inTransaction(pool, cutOff, { statementMs: BULK_MS });
}

function keyOf(thread: ThreadRef): readonly [string, string, string] {
  return [thread.account, subjectKey(thread), thread.threadId];
}
