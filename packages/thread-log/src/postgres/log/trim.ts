import type pg from "pg";
import type { AgingPage } from "../../log/log-store.js";
import type { PageOptions, RetentionPolicy, TrimResult } from "../../log/thread-log.js";
import { pageLimit } from "../../thread-directory.js";
import { subjectKey, type ThreadRef } from "../../thread-ref.js";
import type { PostgresDatabase } from "../database.js";
import { keyOf, SAME_THREAD } from "../registry/run-rows.js";

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
    [...retentionKeyOf(thread), maxEntries ?? null, maxBytes ?? null, maxAgeMs ?? null],
  );
  const row = rows[0];
  if (!row) return undefined;
  // Below the floor only terminals are left, which stay.
  const through = Number(row.through);
  return { epoch: row.epoch, through: through < Number(row.floor) ? 0 : through };
}

/**
 * Lists threads by the number of their row, which only grows. For a thread that is old enough only the oldest entry is read: one
 * index lookup, where `findExcess` would read them all. Threads whose trim was interrupted count, too.
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
  await pool.query(raiseFloorStatement(schema), [...retentionKeyOf(thread), epoch, through]);
  const { rows } = await pool.query<{ log_id: string; floor: string; is_same: boolean }>(
    `select log_id, floor, epoch = $4 as is_same from ${schema}.threads
     where account = $1 and subject = $2 and thread_id = $3`,
    [...retentionKeyOf(thread), epoch],
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

function retentionKeyOf(thread: ThreadRef): readonly [string, string, string] {
  return [thread.account, subjectKey(thread), thread.threadId];
}

/** Blocks starts of runs in the thread until the transaction ends. `false` where one is open, or is just starting. */
export async function lockIdleThread(
  client: Pick<pg.ClientBase, "query">,
  schema: string,
  thread: ThreadRef,
): Promise<boolean> {
  const locked = await client.query(lockThreadStatement(schema), [...keyOf(thread)]);
  if (locked.rowCount === 0) return false;
  const open = await client.query(openRunStatement(schema), [...keyOf(thread)]);
  return open.rowCount === 0;
}

export interface EveryThreadPage {
  readonly threads: readonly ThreadRef[];
  /** Pass it as `after` for the next page; `undefined` on the last. */
  readonly next: string | undefined;
}

/** Threads of all accounts, for rounds over everything. */
export async function everyThread(
  { pool, schema }: PostgresDatabase,
  { after = "0", limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<EveryThreadPage> {
  const { rows } = await pool.query<{
    log_id: string;
    account: string;
    subject: string;
    thread_id: string;
  }>(everyThreadStatement(schema), [after, limit]);
  return {
    threads: rows.map(({ account, subject, thread_id }) => ({
      account,
      ...(subject !== "" && { subject }),
      threadId: thread_id,
    })),
    next: rows.length < limit ? undefined : rows.at(-1)?.log_id,
  };
}

/** Deletes rows of threads in which nothing ever started: a stop of an unknown run leaves one. Gives how many. */
export async function deleteUnstartedThreads(
  { pool, schema }: PostgresDatabase,
  limit: number,
): Promise<number> {
  const { rowCount } = await pool.query(deleteUnstartedStatement(schema), [limit]);
  return rowCount ?? 0;
}

/** Counts of rows that a round of retention would delete, by kind. */
export interface RetainedRows {
  readonly threads: number;
  readonly runs: number;
  readonly entries: number;
  readonly entryBytes: number;
}

export async function measureRetention(
  { pool, schema }: PostgresDatabase,
  maxAgeMs: number | undefined,
): Promise<RetainedRows> {
  const { rows } = await pool.query<{ threads: number; runs: number; entries: number; bytes: string }>(
    measureStatement(schema),
    [maxAgeMs ?? null],
  );
  const [row] = rows;
  if (!row) throw new Error("a count gives a row");
  return { threads: row.threads, runs: row.runs, entries: row.entries, entryBytes: Number(row.bytes) };
}
/** Where entries are. */
const entriesOf = (schema: string) => `${schema}.log_entries`;
/** Columns of an entry that trimming looks at. */
const TERMINAL = "end_of_run is not null";
const NO_TERMINAL = "end_of_run is null";

/**
 * Raises a thread's floor: what is below it can't be read any more. Locks the thread's row for one update; what is cut off is
 * summed before, because only trims and compaction change entries that are there, and each of them moves the floor or
 * `compacted`. Parameters: the thread, the epoch that the cut was computed in, and the last seq to cut off, which is lowered to
 * what a snapshot covers, and to a whole entry where several were merged into one. No row: there is nothing to cut, or another
 * trim or compaction came first.
 */
function raiseFloorStatement(schema: string): string {
  return `
with wanted as materialized (
  select t.log_id, t.floor, t.compacted, least($5::bigint, t.snapshot_seq) as through from ${schema}.threads t
  where t.account = $1 and t.subject = $2 and t.thread_id = $3 and t.epoch = $4
), cut as materialized (
  select log_id, floor, compacted, case when through >= compacted then through else (
    select coalesce(max(e.seq), 0) from ${entriesOf(schema)} e
    where e.log_id = wanted.log_id and e.seq between wanted.floor and wanted.through) end as through
  from wanted
), summed as materialized (
  select cut.*, (
    select coalesce(sum(e.bytes), 0) from ${entriesOf(schema)} e
    where e.log_id = cut.log_id and e.seq between cut.floor and cut.through) as bytes
  from cut where cut.through >= cut.floor
)
update ${schema}.threads t set floor = summed.through + 1, held_bytes = greatest(0, t.held_bytes - summed.bytes)
from summed where t.log_id = summed.log_id and t.epoch = $4 and t.floor = summed.floor and t.compacted = summed.compacted`;
}

/**
 * Deletes a batch of what is below the floor, from the lowest seq on, but terminals. Locks the entries it deletes, and nothing
 * that an append needs. The epoch is compared in the same statement: a thread that was deleted and made again has the same
 * `log_id`, and its new entries are not ours to delete. Parameters: `log_id`, epoch, the seq after which to begin, and the size
 * of the batch.
 */
function deleteTrimmedStatement(schema: string): string {
  return `
with batch as materialized (
  select e.seq from ${schema}.threads t join ${entriesOf(schema)} e on e.log_id = t.log_id
  where t.log_id = $1 and t.epoch = $2 and e.seq > $3 and e.seq < t.floor and e.${NO_TERMINAL}
  order by e.seq limit $4
), gone as (
  delete from ${entriesOf(schema)}
  where log_id = $1 and seq > $3 and seq <= (select max(seq) from batch) and ${NO_TERMINAL}
  returning seq
)
select (select count(*)::int from gone) as dropped, (select max(seq) from batch) as last,
  (select count(*)::int from batch) as found`;
}

/** Deletes terminals below the floor but the newest. Parameters: `log_id`, epoch, how many stay. */
function deleteTerminalsStatement(schema: string): string {
  return `
delete from ${entriesOf(schema)} where log_id = $1 and ${TERMINAL} and seq <= (
  select e.seq from ${schema}.threads t join ${entriesOf(schema)} e on e.log_id = t.log_id
  where t.log_id = $1 and t.epoch = $2 and e.seq < t.floor and e.${TERMINAL}
  order by e.seq desc offset $3 limit 1)`;
}

/** Deletes snapshots that end before the floor. Parameters: `log_id`, epoch. */
function deleteSnapshotsStatement(schema: string): string {
  return `
delete from ${schema}.snapshots s using ${schema}.threads t
where s.log_id = $1 and t.log_id = $1 and t.epoch = $2 and s.seq + 1 < t.floor`;
}

/**
 * A condition on a thread `t`: a trim was interrupted before it had deleted everything below the floor. Deleting begins with the
 * lowest seq, so what is left is next to the floor, where a few terminals may lie that stay in any case.
 */
function hasTrimmedEntries(schema: string): string {
  return `exists (
  select 1 from (
    select e.end_of_run from ${entriesOf(schema)} e where e.log_id = t.log_id and e.seq < t.floor order by e.seq desc limit 8
  ) last where last.${NO_TERMINAL})`;
}
/**
 * Deletes the templates that no entry from the floor on uses. All entries of a token lie before the first of a higher one: if
 * that lies at or below the floor, the lower token has none left above it, and can't write any more. Reads the templates alone,
 * never the entries, and locks none of them but those it deletes. The epoch is compared in the same statement: a thread that was
 * deleted and made again has the same `log_id`. Parameters: `log_id`, epoch.
 */
function dropTemplatesStatement(schema: string): string {
  return `
delete from ${schema}.entry_templates p using ${schema}.threads t
where p.log_id = $1 and t.log_id = $1 and t.epoch = $2 and p.token < (
  select max(q.token) from ${schema}.entry_templates q where q.log_id = $1 and q.first_seq <= t.floor)`;
}
/** A page of $2 living threads of all accounts after row number $1, oldest first. Locks nothing. */
function everyThreadStatement(schema: string): string {
  return `
select log_id, account, subject, thread_id from ${schema}.threads
where log_id > $1::bigint and not deleted and fence > 0 order by log_id limit $2`;
}

/** Rows that a stop of an unknown run made, and nothing ever started in. By then the stop itself has expired. */
const UNSTARTED = (schema: string) => `
t.fence = 0 and not t.deleted and t.created_at < clock_timestamp() - interval '1 hour'
and not exists (select 1 from ${schema}.stops s
  where s.account = t.account and s.subject = t.subject and s.thread_id = t.thread_id and s.expires_at > clock_timestamp())
and not exists (select 1 from ${schema}.runs r
  where r.account = t.account and r.subject = t.subject and r.thread_id = t.thread_id)`;

/**
 * Deletes at most $1 of them. Locks each row and skips those that are locked: a start or a stop has the right of way. One that
 * read the row before finds another revision and reads again. Materialized: joined to the rows it deletes, the limit would be
 * counted separately for each of them in some plans.
 */
function deleteUnstartedStatement(schema: string): string {
  return `
with unstarted as materialized (
  select t.log_id from ${schema}.threads t where ${UNSTARTED(schema)} order by t.log_id limit $1 for update skip locked)
delete from ${schema}.threads t using unstarted where t.log_id = unstarted.log_id`;
}

/** How many rows the rounds of retention would delete at the age of $1 milliseconds (null: none), by kind. Locks nothing. */
function measureStatement(schema: string): string {
  const past = "clock_timestamp() - $1::double precision * interval '1 millisecond'";
  return `
select
  (select count(*) from ${schema}.threads t where ${UNSTARTED(schema)})::int as threads,
  (select count(*) from ${schema}.runs r where ended_at < ${past} and not exists (
    select 1 from ${schema}.interrupts i where i.account = r.account and i.subject = r.subject
      and i.thread_id = r.thread_id and i.run_id = r.run_id and i.answered_by is null))::int as runs,
  e.entries::int as entries, e.bytes
from (
  select count(*) as entries, coalesce(sum(bytes), 0) as bytes from ${schema}.log_entries
  where at < ${past} and end_of_run is null) e`;
}

/**
 * Locks the thread's row, under which every run starts (`start_run`). Gives no row where something else holds it: a change of
 * the thread has the right of way.
 */
function lockThreadStatement(schema: string): string {
  return `select 1 from ${schema}.threads where ${SAME_THREAD} for update skip locked`;
}

/** Locks nothing. A statement after the lock: what it sees must be no older. */
function openRunStatement(schema: string): string {
  return `select 1 from ${schema}.runs where ${SAME_THREAD} and status in ('running', 'queued') limit 1`;
}
