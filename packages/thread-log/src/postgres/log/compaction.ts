import type { CompactionStore } from "../../log/log-store.js";
import { pageLimit } from "../../thread-directory.js";
import { subjectKey, type ThreadRef } from "../../thread-ref.js";
import { inTransaction } from "../connection/transaction.js";
import type { PostgresDatabase } from "../database.js";
import { SAME_THREAD } from "../registry/run-rows.js";
import { type EntryPage, entryPage, parseEntryPage } from "./entry-templates.js";

interface UncompactedRow extends EntryPage {
  readonly epoch: string;
  readonly floor: string;
  readonly compacted: string;
  readonly ends_at: string;
  readonly snapshots: readonly string[] | null;
}

export function createPostgresCompaction({ pool, schema }: PostgresDatabase): CompactionStore {
  return {
    async compactable(olderThanMs, { after, limit }) {
      const size = pageLimit(limit);
      const { rows } = await pool.query<{
        log_id: string;
        account: string;
        subject: string;
        thread_id: string;
      }>(compactableStatement(schema), [olderThanMs, after ?? "0", size + 1]);
      const found = rows.slice(0, size);
      return {
        threads: found.map(({ account, subject, thread_id }) => ({
          account,
          ...(subject === "" ? {} : { subject }),
          threadId: thread_id,
        })),
        next: rows.length > size ? found.at(-1)?.log_id : undefined,
      };
    },
    async uncompacted(thread, olderThanMs, limit) {
      const { rows } = await pool.query<UncompactedRow>(uncompactedStatement(schema), [
        ...keyOf(thread),
        olderThanMs,
        limit,
      ]);
      const [row] = rows;
      return (
        row && {
          epoch: row.epoch,
          floor: Number(row.floor),
          compacted: Number(row.compacted),
          entries: parseEntryPage(row),
          end: Number(row.ends_at),
          snapshots: row.snapshots?.map(Number) ?? [],
        }
      );
    },
    compact: (thread, { epoch, floor, compacted, through, merged, dropped }) =>
      inTransaction(pool, async (client) => {
        const { rows } = await client.query<{ log_id: string }>(lockForCompactionStatement(schema), [
          ...keyOf(thread),
          epoch,
          floor,
          compacted,
        ]);
        const [row] = rows;
        if (!row) return false;
        const { rowCount } = await client.query(compactStatement(schema), [
          row.log_id,
          through,
          dropped,
          merged.map(({ seq }) => seq),
          merged.map(({ bytes }) => bytes),
          merged.length === 0 ? null : merged.map(({ text }) => text).join("\u001e"),
        ]);
        return rowCount === 1;
      }),
    async tidy(thread, after, through) {
      await pool.query(tidyTemplatesStatement(schema), [...keyOf(thread), after, through]);
    },
  };
}

function keyOf(thread: ThreadRef): readonly [string, string, string] {
  return [thread.account, subjectKey(thread), thread.threadId];
}

const OLDER_THAN = (ms: string) => `clock_timestamp() - ${ms}::double precision * interval '1 millisecond'`;

/**
 * Lists threads with a terminal that is old enough and not compacted yet, by the number of their row. For each only the first
 * terminal after what is compacted is read, which is one index descent; a deleted thread has none. Locks nothing. Parameters:
 * the age, the number to go on after, and the most threads.
 *
 * Lists none for the first day after the migration that made this possible, unless that made the tables, too: instances of the
 * version before, which may run until they are replaced, assume that seqs have no holes.
 */
function compactableStatement(schema: string): string {
  return `
select t.log_id, t.account, t.subject, t.thread_id from ${schema}.threads t
where t.log_id > $2::bigint and t.created_at < ${OLDER_THAN("$1")}
  and (
    select e.at from ${schema}.log_entries e
    where e.log_id = t.log_id and e.end_of_run is not null and e.seq > t.compacted and e.seq >= t.floor
    order by e.seq limit 1) < ${OLDER_THAN("$1")}
  and exists (
    select 1 from ${schema}.migrations this, ${schema}.migrations first
    where this.id = 5 and first.id = 1
      and (this.applied_at = first.applied_at or this.applied_at < clock_timestamp() - interval '1 day'))
order by t.log_id limit $3`;
}

/** Reads the entries that may be merged next, up to the last terminal of that age ($4), at most $5 entries. Locks nothing. */
function uncompactedStatement(schema: string): string {
  return `
select t.epoch, t.floor, t.compacted, ended.seq as ends_at, page.lines, used.templates, (
  select array_agg(s.seq) from ${schema}.snapshots s
  where s.log_id = t.log_id and s.seq > t.compacted and s.seq <= ended.seq) as snapshots
from ${schema}.threads t
join lateral (
  select max(e.seq) as seq from ${schema}.log_entries e
  where e.log_id = t.log_id and e.end_of_run is not null and e.seq > t.compacted and e.seq >= t.floor
    and e.at < ${OLDER_THAN("$4")}
) ended on ended.seq is not null
${entryPage(schema, { where: "seq > t.compacted and seq <= ended.seq", limit: "$5" })}
where ${SAME_THREAD} and not t.deleted`;
}

/** Locks the thread's row, if it is still as it was when the range was read. */
function lockForCompactionStatement(schema: string): string {
  return `
select log_id from ${schema}.threads
where ${SAME_THREAD} and epoch = $4 and floor = $5 and compacted = $6 and not deleted for update`;
}

/**
 * Replaces entries of a log ($1), whose row is locked, and records how far it is compacted ($2). A second statement of its
 * transaction, because it must see snapshots that were saved while the first waited for the lock. Does nothing where one of
 * them is at an entry that would be dropped. Bytes are counted as an append counts them.
 */
function compactStatement(schema: string): string {
  return `
with free as (
  select 1 where not exists (select 1 from ${schema}.snapshots where log_id = $1 and seq = any($3::bigint[]))
), gone as (
  delete from ${schema}.log_entries e using free
  where e.log_id = $1 and e.seq = any($3::bigint[])
  returning e.seq, -e.bytes as grown
), anew as (
  update ${schema}.log_entries e set body = m.body, bytes = m.bytes, template = null
  from free, unnest($4::bigint[], $5::int[], string_to_array($6, chr(30))) as m (seq, bytes, body)
    join ${schema}.log_entries o on o.log_id = $1 and o.seq = m.seq
  where e.log_id = $1 and e.seq = m.seq
  returning e.seq, e.bytes - o.bytes as grown
), changed as (
  select coalesce(sum(c.grown), 0) as held, coalesce(sum(c.grown) filter (where c.seq > t.snapshot_seq), 0) as unfolded
  from ${schema}.threads t left join (select * from gone union all select * from anew) c on true where t.log_id = $1
)
update ${schema}.threads t set compacted = $2, held_bytes = t.held_bytes + changed.held,
  unfolded_bytes = t.unfolded_bytes + changed.unfolded
from changed, free where t.log_id = $1`;
}

/**
 * Deletes the templates of a thread that none of a compacted range's entries uses any more: after $4, up to $5. That ends with
 * a run, and a writer makes new templates after the end of a run, so no entry behind it uses them. Reads the entries of the
 * range once; locks no row of the thread's.
 */
function tidyTemplatesStatement(schema: string): string {
  return `
delete from ${schema}.entry_templates p using ${schema}.threads t
where ${SAME_THREAD} and p.log_id = t.log_id and p.first_seq > $4 and p.first_seq <= $5 and not exists (
  select 1 from ${schema}.log_entries e
  where e.log_id = t.log_id and e.seq > $4 and e.seq <= $5 and e.template = p.id)`;
}
