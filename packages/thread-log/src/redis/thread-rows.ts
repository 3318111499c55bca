import type pg from "pg";
import { subjectKey, type ThreadRef } from "../port/thread-ref.js";
import type { PostgresDatabase } from "../postgres/open-postgres.js";

// The tables are the PostgreSQL store's own. With the live log in Redis, `entries` holds terminals only, `floor` is the
// stream's, and `head` is how far PostgreSQL knows the log to have been: its last terminal or snapshot.

export interface ThreadRow {
  readonly logId: string;
  readonly epoch: string;
  readonly fence: bigint;
  readonly deleted: boolean;
  readonly head: number;
}

interface RawRow {
  readonly log_id: string;
  readonly epoch: string;
  readonly fence: string;
  readonly deleted: boolean;
  readonly head: string;
}

const COLUMNS = "log_id, epoch, fence, deleted, head";
const THIS_THREAD = "account = $1 and subject = $2 and thread_id = $3";

function scopeOf(thread: ThreadRef): [account: string, subject: string, threadId: string] {
  return [thread.account, subjectKey(thread), thread.threadId];
}

function readRow(raw: RawRow): ThreadRow {
  return {
    logId: raw.log_id,
    epoch: raw.epoch,
    fence: BigInt(raw.fence),
    deleted: raw.deleted,
    head: Number(raw.head),
  };
}

/** Instances that open, recover or delete one thread at once wait for one another on its row. */
export async function lockRow(
  client: pg.ClientBase,
  schema: string,
  thread: ThreadRef,
): Promise<ThreadRow | undefined> {
  const { rows } = await client.query<RawRow>(
    `select ${COLUMNS} from ${schema}.threads where ${THIS_THREAD} for update`,
    scopeOf(thread),
  );
  return rows[0] && readRow(rows[0]);
}

export async function ensureRow(
  client: pg.ClientBase,
  schema: string,
  thread: ThreadRef,
  epoch: string,
): Promise<void> {
  await client.query(
    `insert into ${schema}.threads (account, subject, thread_id, epoch, fence) values ($1, $2, $3, $4, 0)
     on conflict do nothing`,
    [...scopeOf(thread), epoch],
  );
}

export async function openRow(
  client: pg.ClientBase,
  schema: string,
  row: ThreadRow,
  token: bigint,
  stateKey: string | undefined,
): Promise<void> {
  await client.query(
    `update ${schema}.threads set fence = $2, deleted = false, state_key = coalesce($3, state_key) where log_id = $1`,
    [row.logId, String(token), stateKey ?? null],
  );
}

/** `floor`: from where on the log can be read now; older snapshots, and entries from before the log was in Redis, are of no use. */
export async function renewRow(
  client: pg.ClientBase,
  schema: string,
  row: ThreadRow,
  epoch: string,
  floor: number,
): Promise<void> {
  await client.query(`update ${schema}.threads set epoch = $2, floor = $3 where log_id = $1`, [
    row.logId,
    epoch,
    floor,
  ]);
  await client.query(`delete from ${schema}.snapshots where log_id = $1 and seq + 1 < $2`, [
    row.logId,
    floor,
  ]);
  await client.query(`delete from ${schema}.entries where log_id = $1 and end_of_run is null`, [row.logId]);
}

/** The rows of threads that are not in Redis, by their place in `threads`. */
export async function findRows(
  { pool, schema }: PostgresDatabase,
  threads: readonly ThreadRef[],
): Promise<ReadonlyMap<number, ThreadRow>> {
  const { rows } = await pool.query<RawRow & { ord: string }>(
    `select a.ord, ${COLUMNS} from unnest($1::text[], $2::text[], $3::text[]) with ordinality
       as a (account, subject, thread_id, ord) join ${schema}.threads t using (account, subject, thread_id)`,
    [
      threads.map(({ account }) => account),
      threads.map((thread) => subjectKey(thread)),
      threads.map(({ threadId }) => threadId),
    ],
  );
  return new Map(rows.map((raw) => [Number(raw.ord) - 1, readRow(raw)]));
}

export interface Terminal {
  readonly thread: ThreadRef;
  readonly epoch: string;
  readonly seq: number;
  readonly runId: string;
  readonly text: string;
  readonly bytes: number;
}

/** One statement for all runs that end in a commit; safe to repeat. A thread deleted or lost meanwhile takes none. */
export async function saveTerminals(
  { pool, schema }: PostgresDatabase,
  terminals: readonly Terminal[],
): Promise<void> {
  if (terminals.length === 0) return;
  await pool.query(
    `with ended as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::int[])
         as e (account, subject, thread_id, epoch, seq, run_id, envelope, bytes)
     ), reached as (
       select account, subject, thread_id, epoch, max(seq) as seq from ended group by 1, 2, 3, 4
     ), known as (
       update ${schema}.threads t set head = greatest(t.head, r.seq), updated_at = clock_timestamp()
       from reached r
       where t.account = r.account and t.subject = r.subject and t.thread_id = r.thread_id and t.epoch = r.epoch
         and not t.deleted
       returning t.log_id, t.account, t.subject, t.thread_id
     )
     insert into ${schema}.entries (log_id, seq, at, bytes, end_of_run, envelope)
     select k.log_id, e.seq, clock_timestamp(), e.bytes, e.run_id, e.envelope
     from ended e join known k using (account, subject, thread_id)
     on conflict do nothing`,
    [
      terminals.map(({ thread }) => thread.account),
      terminals.map(({ thread }) => subjectKey(thread)),
      terminals.map(({ thread }) => thread.threadId),
      terminals.map(({ epoch }) => epoch),
      terminals.map(({ seq }) => seq),
      terminals.map(({ runId }) => runId),
      terminals.map(({ text }) => text),
      terminals.map(({ bytes }) => bytes),
    ],
  );
}

export async function countTerminals(
  { pool, schema }: PostgresDatabase,
  thread: ThreadRef,
  before: number,
): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(
    `select count(*) from ${schema}.threads t join ${schema}.entries e using (log_id)
     where ${THIS_THREAD} and e.end_of_run is not null and e.seq < $4`,
    [...scopeOf(thread), before],
  );
  return Number(rows[0]?.count ?? 0);
}

export interface LivingThread {
  readonly thread: ThreadRef;
  readonly logId: string;
}

export interface BurialScope {
  readonly account: string;
  /** `undefined` is every subject. */
  readonly subject: string | undefined;
  readonly threadId?: string;
}

/** Threads in scope that are not deleted, at most `limit`, locked. */
export async function lockLiving(
  client: pg.ClientBase,
  schema: string,
  scope: BurialScope,
  limit: number,
): Promise<readonly LivingThread[]> {
  const { rows } = await client.query<{ log_id: string; subject: string; thread_id: string }>(
    `select log_id, subject, thread_id from ${schema}.threads
     where account = $1 and ($2::text is null or subject = $2) and ($3::text is null or thread_id = $3) and not deleted
     order by log_id limit $4 for update`,
    [scope.account, scope.subject ?? null, scope.threadId ?? null, limit],
  );
  return rows.map(({ log_id, subject, thread_id }) => ({
    logId: log_id,
    thread: { account: scope.account, ...(subject === "" ? {} : { subject }), threadId: thread_id },
  }));
}

/** Tombstones: a new epoch, a fence above every one that was minted, and nothing of what was. */
export async function buryRows(
  client: pg.ClientBase,
  schema: string,
  logIds: readonly string[],
): Promise<void> {
  await client.query(
    `update ${schema}.threads set deleted = true, epoch = replace(gen_random_uuid()::text, '-', ''),
       fence = greatest(fence + 1, nextval('${schema}.fences')), head = 0, floor = 1, last_append = null, held_bytes = 0,
       snapshot_seq = 0, unfolded_bytes = 0, state_key = ''
     where log_id = any ($1::bigint[])`,
    [logIds],
  );
  for (const table of ["entries", "snapshots"]) {
    await client.query(`delete from ${schema}.${table} where log_id = any ($1::bigint[])`, [logIds]);
  }
}
