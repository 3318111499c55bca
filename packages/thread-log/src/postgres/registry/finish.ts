import type pg from "pg";
import type { Finish, FinishResult, RegistryStatus } from "../../registry/run-registry.js";
import { statusAfter } from "../../thread-directory.js";
import type { PostgresDatabase } from "../database.js";
import { NOW_OF_LISTING } from "./run-rows.js";

export interface RunFinish extends Finish {
  readonly runId: string;
  readonly token: bigint;
  /** The run never ran: interrupts that are open stay so. */
  readonly keepsInterrupts?: boolean;
}

/** The row that a statement returns for a run it finished; `ord` is its number in the batch, from 1. */
export interface FinishedRow {
  readonly ord: number;
  readonly next: string | null;
  /** `next` may be out of date. */
  readonly raced: boolean;
}

/** One statement for all of them, and another only where a run was not held, or its thread changed at the same moment. */
export async function finishRuns(
  { pool, schema }: PostgresDatabase,
  finishes: readonly RunFinish[],
): Promise<readonly FinishResult[]> {
  const [ords, ids] = openInterrupts(finishes);
  const { rows } = await pool.query<FinishedRow>({
    name: `${schema}_finish`,
    text: finishStatement(schema),
    values: [
      finishes.map(({ runId }) => runId),
      finishes.map(({ token }) => token.toString()),
      finishes.map(({ status }) => status),
      finishes.map(statusAfter),
      finishes.map(({ upstreamRunId }) => upstreamRunId ?? null),
      finishes.map(({ keepsInterrupts }) => !keepsInterrupts),
      ords,
      ids,
    ],
  });
  const finished = new Map(rows.map((row) => [row.ord - 1, row]));
  const unsure = finishes.filter((_, index) => finished.get(index)?.raced ?? true);
  const now = await findNext(
    pool,
    schema,
    unsure.map(({ runId }) => runId),
  );
  return finishes.map(({ runId }, index): FinishResult => {
    const row = finished.get(index);
    const later = now.get(runId);
    if (!row) return { ok: false, reason: later?.status === "running" ? "fenced" : "ended" };
    return { ok: true, next: (row.raced ? later?.next : row.next) ?? undefined };
  });
}

/** Open interrupts, each once, as the two arrays of the statements' parameters: number in the batch, id. */
export function openInterrupts(
  finishes: readonly (Finish | undefined)[],
): readonly [ords: readonly number[], ids: readonly string[]] {
  const open = finishes.flatMap((finish, index) =>
    [...new Set(finish?.interrupts)].map((id) => ({ ord: index + 1, id })),
  );
  return [open.map(({ ord }) => ord), open.map(({ id }) => id)];
}

interface NextRow {
  readonly run_id: string;
  readonly status: RegistryStatus;
  readonly next: string | null;
}

export async function findNext(
  queries: Pick<pg.Pool, "query">,
  schema: string,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, NextRow>> {
  if (runIds.length === 0) return new Map();
  const { rows } = await queries.query<NextRow>(nextStatement(schema), [runIds]);
  return new Map(rows.map((row) => [row.run_id, row]));
}

/**
 * Ends the runs in `source`, whose threads that part has locked, and lists their threads accordingly. Locks the runs in order
 * of their ids, as a heartbeat does: each of them may hold several. `source` has the columns `ord`, `account`, `subject`,
 * `thread_id`, `raced`, `run_id`, `token`, `end_status`, `listing_status`, `upstream_run_id` and `closes`. Open interrupts come as two arrays, `ord` and id; what is deleted and what
 * is written are different rows, as parts of one statement must be. Gives `finished`: `ord`, the run that waits next, and
 * `raced`: the thread changed between the statement's snapshot and its lock, so that `next` may be out of date.
 */
export function finishParts(schema: string, source: string, interrupts: readonly [string, string]): string {
  const sameThread = (of: string) =>
    `${of}.account = e.account and ${of}.subject = e.subject and ${of}.thread_id = e.thread_id`;
  return `
held as materialized (
  select r.run_id from ${source} s
  join ${schema}.runs r on r.run_id = s.run_id and r.fence = s.token and r.status = 'running'
  order by r.run_id for update of r
), ended as (
  update ${schema}.runs r set status = s.end_status, ended_at = clock_timestamp(), owner = null, lease_until = null,
    start = null, upstream_run_id = coalesce(s.upstream_run_id, r.upstream_run_id)
  from ${source} s join held on held.run_id = s.run_id where r.run_id = s.run_id
  returning s.ord, s.account, s.subject, s.thread_id, s.raced, s.run_id, s.token, s.listing_status, s.closes
), open_now as (
  select * from unnest(${interrupts[0]}::bigint[], ${interrupts[1]}::text[]) as o (ord, interrupt_id)
), closed as (
  delete from ${schema}.interrupts i using ended e
  where ${sameThread("i")} and e.closes and i.answered_by is null
    and not exists (select 1 from open_now o where o.ord = e.ord and o.interrupt_id = i.interrupt_id)
), opened as (
  insert into ${schema}.interrupts (account, subject, thread_id, interrupt_id, run_id)
  select e.account, e.subject, e.thread_id, o.interrupt_id, e.run_id from ended e join open_now o on o.ord = e.ord
  on conflict (account, subject, thread_id, interrupt_id) do update
  set run_id = excluded.run_id, answered_by = null, answer = null
), listed as (
  update ${schema}.thread_listings l
  set status = e.listing_status, token = e.token, last_activity_at = ${NOW_OF_LISTING}
  from ended e where ${sameThread("l")}
), finished as (
  select e.ord, e.raced, (
    select q.run_id from ${schema}.runs q where ${sameThread("q")} and q.status = 'queued'
    order by q.preempts desc, q.arrival limit 1) as next
  from ended e
)`;
}

/** Whether thread `t`, whose revision was just moved by one, had changed between the statement's snapshot and its lock. */
export function racedSince(schema: string): string {
  return `t.revision <> (select seen.revision + 1 from ${schema}.threads seen where seen.log_id = t.log_id) as raced`;
}

/** Finishes runs without an append. Locks the threads, then the runs. What is not in the answer was not held any more. */
function finishStatement(schema: string): string {
  return `
with asked as (
  select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::boolean[])
    with ordinality as a (run_id, token, end_status, listing_status, upstream_run_id, closes, ord)
), bumped as (
  update ${schema}.threads t set revision = t.revision + 1
  from asked a join ${schema}.runs r on r.run_id = a.run_id and r.fence = a.token and r.status = 'running'
  where t.account = r.account and t.subject = r.subject and t.thread_id = r.thread_id
  returning a.*, t.account, t.subject, t.thread_id, ${racedSince(schema)}
), ${finishParts(schema, "bumped", ["$7", "$8"])}
select ord::int, next, raced from finished`;
}

/** Reads the status of runs that ended, and the run of their thread that waits now. */
export function nextStatement(schema: string): string {
  return `
select f.run_id, f.status, (
  select q.run_id from ${schema}.runs q
  where q.account = f.account and q.subject = f.subject and q.thread_id = f.thread_id and q.status = 'queued'
  order by q.preempts desc, q.arrival limit 1) as next
from ${schema}.runs f where f.run_id = any($1::text[])`;
}
