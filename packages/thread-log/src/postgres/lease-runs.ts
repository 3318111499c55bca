import type pg from "pg";
import type { Lease, LeasedRun } from "../port/run-registry.js";
import type { ThreadRef } from "../port/thread-ref.js";
import { inTransaction } from "./in-transaction.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { keyOf, QUEUE_ORDER, RUN_COLUMNS, type RunRow, SAME_THREAD, threadOf, toLeased } from "./run-rows.js";

/**
 * Every change of who may write a thread happens under this lock: it makes the registry's rules about a thread serial. A
 * thread that is not there yet is locked by making it, with a fence that no writer ever has; one that is, by writing what it
 * holds, because that is one statement for both.
 */
export async function lockThread(client: pg.PoolClient, schema: string, thread: ThreadRef): Promise<void> {
  await client.query(
    `insert into ${schema}.threads as t (account, subject, thread_id, epoch, fence)
     values ($1, $2, $3, replace(gen_random_uuid()::text, '-', ''), 0)
     on conflict (account, subject, thread_id) do update set fence = t.fence`,
    [...keyOf(thread)],
  );
}

/** Bumps the thread's fence, so that every earlier writer is refused from here on (R17), and hands the run to the owner. */
async function leaseRun(
  client: pg.PoolClient,
  schema: string,
  runId: string,
  { owner, leaseMs }: Lease,
  takenOver: boolean,
): Promise<LeasedRun> {
  const { rows } = await client.query<RunRow>(
    `with bumped as (
       update ${schema}.threads t
       set fence = greatest(t.fence + 1, nextval('${schema}.fences')), deleted = false
       from ${schema}.runs r
       where r.run_id = $1 and t.account = r.account and t.subject = r.subject and t.thread_id = r.thread_id
       returning t.fence
     )
     update ${schema}.runs set status = 'running', owner = $2, fence = bumped.fence, attempt = attempt + $4,
       lease_until = clock_timestamp() + $3::double precision * interval '1 millisecond'
     from bumped where run_id = $1
     returning ${RUN_COLUMNS.replace("fence", "runs.fence")}`,
    [runId, owner, leaseMs, takenOver ? 1 : 0],
  );
  const row = rows[0];
  if (!row) throw new Error(`run ${runId} vanished under its thread's lock`);
  return toLeased(row);
}

/** A graph that is given new input forgets what it asked: an answer that comes after that has nothing to answer. */
export async function setAsideQuestions(
  client: pg.PoolClient,
  schema: string,
  thread: ThreadRef,
): Promise<void> {
  await client.query(`delete from ${schema}.interrupts where ${SAME_THREAD} and answered_by is null`, [
    ...keyOf(thread),
  ]);
}

/** The next waiting run under the thread's lock. Input waits for open interrupts to be answered (R28), unless it preempts. */
export async function claimNextRun(
  { pool, schema }: PostgresDatabase,
  thread: ThreadRef,
  lease: Lease,
): Promise<LeasedRun | undefined> {
  return inTransaction(pool, async (client) => {
    await lockThread(client, schema, thread);
    const { rows } = await client.query<{ run_id: string; start_kind: string; preempts: boolean }>(
      `select run_id, start_kind, preempts from ${schema}.runs r where ${SAME_THREAD} and status = 'queued'
         and not exists (select 1 from ${schema}.runs o where ${SAME_THREAD} and status = 'running')
         and (start_kind <> 'input' or preempts or not exists (
           select 1 from ${schema}.interrupts where ${SAME_THREAD} and answered_by is null))
       order by ${QUEUE_ORDER} limit 1`,
      [...keyOf(thread)],
    );
    const next = rows[0];
    if (!next) return undefined;
    if (next.preempts && next.start_kind === "input") await setAsideQuestions(client, schema, thread);
    return leaseRun(client, schema, next.run_id, lease, false);
  });
}

export async function claimQueuedRuns(
  database: PostgresDatabase,
  lease: Lease,
  limit: number,
): Promise<readonly LeasedRun[]> {
  const { pool, schema } = database;
  const { rows } = await pool.query<Pick<RunRow, "account" | "subject" | "thread_id">>(
    `select account, subject, thread_id from ${schema}.runs q where status = 'queued'
       and not exists (select 1 from ${schema}.runs o where o.account = q.account and o.subject = q.subject
         and o.thread_id = q.thread_id and o.status = 'running')
     group by account, subject, thread_id order by min(arrival) limit $1`,
    [limit],
  );
  const claimed: LeasedRun[] = [];
  for (const row of rows) {
    const leased = await claimNextRun(database, threadOf(row), lease);
    if (leased) claimed.push(leased);
  }
  return claimed;
}

/**
 * Locks threads, not runs, as everything else does; a thread that another reaper holds is skipped. What was seen before the
 * lock is looked at again under it: the run may have ended, or its driver may have come back (a run
 * that a heartbeat holds this moment is alive). What a deleted thread left running is for whoever deletes it: taken over, it
 * would write its thread anew.
 */
export async function claimExpiredRuns(
  { pool, schema }: PostgresDatabase,
  lease: Lease,
  limit: number,
): Promise<readonly LeasedRun[]> {
  return inTransaction(pool, async (client) => {
    const { rows: locked } = await client.query<{ run_id: string }>(
      `select r.run_id from ${schema}.runs r
       join ${schema}.threads t on t.account = r.account and t.subject = r.subject and t.thread_id = r.thread_id
       where r.status = 'running' and r.lease_until < clock_timestamp() and not t.deleted
       order by r.lease_until limit $1 for update of t skip locked`,
      [limit],
    );
    const { rows: due } = await client.query<{ run_id: string }>(
      `select run_id from ${schema}.runs
       where run_id = any($1) and status = 'running' and lease_until < clock_timestamp()
       order by lease_until for update skip locked`,
      [locked.map(({ run_id }) => run_id)],
    );
    const claimed: LeasedRun[] = [];
    for (const { run_id } of due) claimed.push(await leaseRun(client, schema, run_id, lease, true));
    return claimed;
  });
}
