import type { Fence } from "@throughline/ai-core";
import type { BadRow, Lease, LeasedRun } from "../../registry/run-registry.js";
import type { ThreadRef } from "../../thread-ref.js";
import type { PostgresDatabase } from "../database.js";
import { finishRuns } from "./finish.js";
import { fenceOf, keyOf, type LeasedRow, NOW_OF_LISTING, RUN_COLUMNS, toLeased } from "./run-rows.js";

/** A row of an outer join: without a claim there is one, which has only whether a run could have been claimed. */
type CandidateRow = { readonly candidate: boolean } & (LeasedRow | { readonly run_id: null });

function leasedIn(rows: readonly CandidateRow[]): readonly LeasedRow[] {
  return rows.flatMap((row) => (row.run_id === null ? [] : [row]));
}

export async function claimNextRun(
  database: PostgresDatabase,
  thread: ThreadRef,
  { owner, leaseMs }: Lease,
  onBadRow: (row: BadRow) => void,
): Promise<LeasedRun | undefined> {
  const { pool, schema } = database;
  const text = claimQueuedStatement(schema, { ofThread: true });
  for (;;) {
    const { rows } = await pool.query<CandidateRow>(text, [owner, leaseMs, ...keyOf(thread)]);
    const leased = leasedIn(rows);
    // The thread changed between the snapshot and its lock, so the candidate may not be one any more.
    if (leased.length === 0 && rows[0]?.candidate) continue;
    const [claimed] = await readClaims(database, leased, onBadRow);
    // A bad run that is out of the way makes room for the one behind it.
    if (claimed || leased.length === 0) return claimed;
  }
}

export async function claimQueuedRuns(
  database: PostgresDatabase,
  { owner, leaseMs }: Lease,
  limit: number,
  onBadRow: (row: BadRow) => void,
): Promise<readonly LeasedRun[]> {
  const { pool, schema } = database;
  const text = claimQueuedStatement(schema, { ofThread: false });
  const { rows } = await pool.query<CandidateRow>(text, [owner, leaseMs, limit]);
  return readClaims(database, leasedIn(rows), onBadRow);
}

export async function claimExpiredRuns(
  database: PostgresDatabase,
  { owner, leaseMs }: Lease,
  limit: number,
  onBadRow: (row: BadRow) => void,
): Promise<readonly LeasedRun[]> {
  const { pool, schema } = database;
  const { rows } = await pool.query<LeasedRow>(claimExpiredStatement(schema), [owner, leaseMs, limit]);
  return readClaims(database, rows, onBadRow);
}

export async function releaseRun(
  { pool, schema, notifyReleased }: PostgresDatabase,
  { runId, token }: Fence,
  isFresh: boolean,
): Promise<void> {
  await pool.query(releaseStatement(schema), [runId, token.toString(), isFresh]);
  notifyReleased();
}

/** A run that can't be read can't be driven either: it ends as an error, and those that were claimed with it go on. */
async function readClaims(
  database: PostgresDatabase,
  rows: readonly LeasedRow[],
  onBadRow: (row: BadRow) => void,
): Promise<readonly LeasedRun[]> {
  const bad: Fence[] = [];
  const claimed = rows.flatMap((row) => {
    try {
      return [toLeased(row)];
    } catch (error) {
      onBadRow({ table: "runs", id: row.run_id, error });
      bad.push(fenceOf(row));
      return [];
    }
  });
  if (bad.length > 0) {
    const finishes = bad.map(({ runId, token }) => ({
      runId,
      token,
      status: "error" as const,
      keepsInterrupts: true,
    }));
    // Not ended now, it is claimed again when this lease runs out: the others must not wait for that.
    await finishRuns(database, finishes).catch((error: unknown) => {
      for (const { runId } of bad) onBadRow({ table: "runs", id: runId, error });
    });
  }
  return claimed;
}

/**
 * Leases the threads and runs in `locked` (`log_id`, `run_id`): bumps the threads' fences, so that every earlier writer is
 * refused from here on (R17), opens their logs, hands the runs to the owner and lists them as running. Gives `leased`.
 */
function leaseParts(schema: string, alsoSet: string): string {
  return `
bumped as (
  update ${schema}.threads t
  set fence = greatest(t.fence + 1, nextval('${schema}.fences')), deleted = false, revision = t.revision + 1
  from locked where t.log_id = locked.log_id
  returning locked.run_id, t.account, t.subject, t.thread_id, t.fence, t.epoch, t.head
), listed as (
  update ${schema}.thread_listings l
  set status = 'running', last_run_id = b.run_id, token = b.fence, last_activity_at = ${NOW_OF_LISTING}
  from bumped b
  where l.account = b.account and l.subject = b.subject and l.thread_id = b.thread_id
), leased as (
  update ${schema}.runs r set status = 'running', owner = $1, fence = b.fence, ${alsoSet}
    lease_until = clock_timestamp() + $2::double precision * interval '1 millisecond'
  from bumped b where r.run_id = b.run_id
  returning ${RUN_COLUMNS.map((column) => `r.${column}`).join(", ")}, b.epoch as log_epoch, b.head as log_head
)`;
}

/**
 * Claims the first waiting run of each thread that has none running and that may run now: input waits for open interrupts to
 * be answered (R28), unless it preempts. Runs that may not run are no candidates, so they can't hide those that may.
 *
 * Locks the threads, which every change of a thread's runs does. A thread that changed between the statement's snapshot and
 * its lock has another revision by now, and is left out: what was read of its runs may not hold any more.
 *
 * Over all threads ($3: how many), a thread that is locked is skipped, because what is done with it is not known yet. Of one
 * thread ($3 to $5), the lock is waited for; `candidate` then separates a thread that changed meanwhile from one where none waits.
 */
function claimQueuedStatement(schema: string, { ofThread }: { readonly ofThread: boolean }): string {
  const here = ofThread ? "and q.account = $3 and q.subject = $4 and q.thread_id = $5" : "";
  const first = ofThread ? "" : "distinct on (q.account, q.subject, q.thread_id)";
  const order = ofThread
    ? "q.preempts desc, q.arrival limit 1"
    : "q.account, q.subject, q.thread_id, q.preempts desc, q.arrival";
  const picked = ofThread ? "for update of t" : "order by c.arrival limit $3 for update of t skip locked";
  const sameThread = (of: string) =>
    `${of}.account = q.account and ${of}.subject = q.subject and ${of}.thread_id = q.thread_id`;
  return `
with candidates as materialized (
  select ${first}
    q.run_id, q.arrival, q.preempts and q.start_kind = 'input' as sets_aside, t.log_id, t.revision
  from ${schema}.runs q join ${schema}.threads t on ${sameThread("t")}
  where q.status = 'queued' ${here}
    and not exists (select 1 from ${schema}.runs o where ${sameThread("o")} and o.status = 'running')
    and (q.start_kind <> 'input' or q.preempts or not exists (
      select 1 from ${schema}.interrupts i where ${sameThread("i")} and i.answered_by is null))
  order by ${order}
), locked as materialized (
  select c.run_id, c.sets_aside, t.log_id from candidates c
  join ${schema}.threads t on t.log_id = c.log_id and t.revision = c.revision
  ${picked}
), ${leaseParts(schema, "")}, aside as (
  delete from ${schema}.interrupts i using locked join bumped b using (run_id)
  where locked.sets_aside and i.account = b.account and i.subject = b.subject and i.thread_id = b.thread_id
    and i.answered_by is null
)
select leased.*, exists (select 1 from candidates) as candidate
from (values (1)) as always (one) left join leased on true`;
}

/**
 * Claims runs whose lease ran out or was released, those that wait longest first, and of those that were released the one that
 * arrived first. A lease that ran out counts as a crash of the driver that held it; one that was released is `-infinity` and
 * does not. A run that was released before anything was done for it has no owner, and no attempt to count.
 *
 * Locks thread and run, and skips what is locked: a run that a heartbeat holds this moment is alive. What was changed since
 * the statement's snapshot is judged again as it is now. A run that a deleted thread left running belongs to the deletion:
 * recovered, it would recreate the thread.
 */
function claimExpiredStatement(schema: string): string {
  const crashed = "r.lease_until > '-infinity'";
  const counted = `attempt = r.attempt + case when r.owner is null then 0 else 1 end, crashes = r.crashes + case when ${crashed} then 1 else 0 end,
    presumed_dead = case when ${crashed} then r.fence else r.presumed_dead end,`;
  return `
with locked as materialized (
  select r.run_id, t.log_id from ${schema}.runs r
  join ${schema}.threads t on t.account = r.account and t.subject = r.subject and t.thread_id = r.thread_id
  where r.status = 'running' and r.lease_until < now() and not t.deleted
  order by r.lease_until, r.arrival limit $3 for update of t, r skip locked
), ${leaseParts(schema, counted)}
select * from leased`;
}

/**
 * Gives up the lease of a run that is still ours; of one that was recovered because we were presumed dead, takes the crash
 * back. $3: nothing was done for it. Locks the thread before the run, as everything else does.
 */
function releaseStatement(schema: string): string {
  const ours = "r.fence = $2::bigint and r.status = 'running'";
  return `
with bumped as (
  update ${schema}.threads t set revision = t.revision + 1
  from ${schema}.runs r
  where r.run_id = $1 and (${ours} or r.presumed_dead = $2::bigint)
    and t.account = r.account and t.subject = r.subject and t.thread_id = r.thread_id
  returning t.log_id
)
update ${schema}.runs r set
  lease_until = case when ${ours} then '-infinity' else r.lease_until end,
  owner = case when $3::boolean and ${ours} then null else r.owner end,
  crashes = r.crashes - case when ${ours} then 0 else 1 end,
  presumed_dead = case when ${ours} then r.presumed_dead end
from bumped where r.run_id = $1 and (${ours} or r.presumed_dead = $2::bigint)`;
}
