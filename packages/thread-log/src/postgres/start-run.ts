import type pg from "pg";
import type { StartResult, StartRun } from "../port/run-registry.js";
import type { ThreadRef } from "../port/thread-ref.js";
import { answerIds, canonicalJson, decideStart, type ThreadRuns } from "../registry/decide-start.js";
import { BUSY_RETRY_MS, checkAlias } from "../registry/run-names.js";
import { inTransaction } from "./in-transaction.js";
import { lockThread, setAsideQuestions } from "./lease-runs.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { keyOf, QUEUE_ORDER, RUN_COLUMNS, type RunRow, SAME_THREAD, toLeased, toRecord } from "./run-rows.js";

/** Asked in the transaction that makes something, before it is made; throws what forbids it. */
export type AdmitInTransaction = (
  client: pg.PoolClient,
  scope: Partial<ThreadRef> & Pick<ThreadRef, "account">,
) => Promise<void>;

/** One transaction under the thread's lock: look, decide (`decideStart`), write. A statement each: many runs may start at once. */
export async function startRun(
  database: PostgresDatabase,
  request: StartRun,
  admit?: AdmitInTransaction,
): Promise<StartResult> {
  checkAlias(request.alias);
  const { pool, schema } = database;
  const result = await inTransaction(pool, async (client): Promise<StartResult> => {
    await admit?.(client, request.thread);
    await lockThread(client, schema, request.thread);
    const decision = decideStart(await look(client, schema, request), request);
    switch (decision.kind) {
      case "attach": {
        const { rows } = await client.query<RunRow>(
          `select ${RUN_COLUMNS} from ${schema}.runs where run_id = $1`,
          [decision.runId],
        );
        return rows[0]
          ? { kind: "attached", run: toRecord(rows[0]) }
          : { kind: "conflict", interruptIds: answerIds(request.start) };
      }
      case "conflict":
      case "interrupt_pending":
        return decision;
      case "busy":
        return { ...decision, retryAfterMs: BUSY_RETRY_MS };
      case "cancel":
        return { kind: "cancelled", run: toRecord(await insert(client, schema, request, "cancelled")) };
      case "queue": {
        const row = await insert(client, schema, request, "queued");
        await consumeAnswers(client, schema, request);
        if (decision.preempted !== undefined) await askToStop(client, database, decision.preempted);
        return { ...decision, kind: "queued", run: toRecord(row) };
      }
      case "run": {
        await consumeAnswers(client, schema, request);
        if (request.strategy === "preempt" && request.start.kind === "input") {
          await setAsideQuestions(client, schema, request.thread);
        }
        return { kind: "started", ...toLeased(await insertLeased(client, schema, request)) };
      }
    }
  });
  if (result.kind === "queued" && result.preempted !== undefined) {
    database.tellOwn({ kind: "stop", runId: result.preempted });
  }
  return result;
}

interface LookRow {
  readonly same: string | null;
  readonly stopped: boolean;
  readonly open: readonly { run_id: string; status: string; preempts: boolean }[];
  readonly interrupts: readonly {
    interrupt_id: string;
    answered_by: string | null;
    answer: string | null;
  }[];
}

/** A statement of its own, behind the lock: what it sees must be no older than that. */
async function look(
  client: pg.PoolClient,
  schema: string,
  { thread, runId, alias, start }: StartRun,
): Promise<ThreadRuns> {
  const names = alias === undefined ? [runId] : [runId, alias];
  const { rows } = await client.query<LookRow>(
    `select
       (select run_id from ${schema}.runs where ${SAME_THREAD} and (run_id = $4 or alias = $5) limit 1) as same,
       exists (select 1 from ${schema}.stops
         where ${SAME_THREAD} and run_name = any($6::text[]) and expires_at > clock_timestamp()) as stopped,
       (select coalesce(json_agg(json_build_object('run_id', run_id, 'status', status, 'preempts', preempts)
           order by ${QUEUE_ORDER}), '[]') from ${schema}.runs
         where ${SAME_THREAD} and status in ('running', 'queued')) as open,
       (select coalesce(json_agg(json_build_object('interrupt_id', interrupt_id, 'answered_by', answered_by,
           'answer', answer) order by interrupt_id), '[]') from ${schema}.interrupts
         where ${SAME_THREAD} and (answered_by is null or interrupt_id = any($7::text[]))) as interrupts`,
    [...keyOf(thread), runId, alias ?? null, names, answerIds(start)],
  );
  const { same, stopped, open, interrupts } = onlyRow(rows);
  const queued = open.filter(({ status }) => status === "queued");
  return {
    same: same ?? undefined,
    stopped,
    running: open.find(({ status }) => status === "running")?.run_id,
    queued: queued.map(({ run_id }) => run_id),
    preempting: queued.filter(({ preempts }) => preempts).length,
    interrupts: interrupts.map((row) => ({
      interruptId: row.interrupt_id,
      answeredBy: row.answered_by ?? undefined,
      answer: row.answer ?? undefined,
    })),
  };
}

const COLUMNS = `account, subject, thread_id, run_id, alias, graph_id, origin_kind, origin_id, start_kind, request,
  upstream_run_id, preempts, start, status`;

function valuesOf(request: StartRun, status: "queued" | "cancelled" | "running"): readonly unknown[] {
  return [
    ...keyOf(request.thread),
    request.runId,
    request.alias ?? null,
    request.graphId,
    request.origin.kind,
    request.origin.id ?? null,
    request.start.kind,
    JSON.stringify(request.request),
    request.upstreamRunId ?? null,
    request.strategy === "preempt",
    status === "cancelled" ? null : JSON.stringify(request.start),
    status,
  ];
}

async function insert(
  client: pg.PoolClient,
  schema: string,
  request: StartRun,
  status: "queued" | "cancelled",
): Promise<RunRow> {
  const { rows } = await client.query<RunRow>(
    `insert into ${schema}.runs (${COLUMNS}, ended_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, case when $15 then clock_timestamp() end)
     returning ${RUN_COLUMNS}`,
    [...valuesOf(request, status), status === "cancelled"],
  );
  return onlyRow(rows);
}

/** Bumps the thread's fence as `leaseRun` does, for a run that begins at once. */
async function insertLeased(client: pg.PoolClient, schema: string, request: StartRun): Promise<RunRow> {
  const { rows } = await client.query<RunRow>(
    `with bumped as (
       update ${schema}.threads set fence = greatest(fence + 1, nextval('${schema}.fences')), deleted = false, state_key = $15
       where ${SAME_THREAD} returning fence
     )
     insert into ${schema}.runs (${COLUMNS}, owner, lease_until, fence)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $16,
       clock_timestamp() + $17::double precision * interval '1 millisecond', bumped.fence from bumped
     returning ${RUN_COLUMNS}`,
    [...valuesOf(request, "running"), request.stateKey, request.owner, request.leaseMs],
  );
  return onlyRow(rows);
}

function onlyRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error("this statement always gives back a row");
  return row;
}

/** R28: in the transaction that makes the run, so that an answer is used once or not at all. */
async function consumeAnswers(client: pg.PoolClient, schema: string, request: StartRun): Promise<void> {
  if (request.start.kind !== "resume") return;
  for (const [interruptId, answer] of Object.entries(request.start.answers)) {
    await client.query(
      `update ${schema}.interrupts set answered_by = $5, answer = $6 where ${SAME_THREAD} and interrupt_id = $4`,
      [...keyOf(request.thread), interruptId, request.runId, canonicalJson(answer)],
    );
  }
}

export async function askToStop(
  client: pg.PoolClient,
  database: PostgresDatabase,
  runId: string,
): Promise<void> {
  await client.query(`update ${database.schema}.runs set stop_requested = true where run_id = $1`, [runId]);
  await notifyStop(client, database, runId);
}

/** Heard by every instance when the transaction commits. */
export async function notifyStop(
  client: pg.PoolClient,
  { channel, payload }: PostgresDatabase,
  runId: string,
): Promise<void> {
  await client.query("select pg_notify($1, $2)", [channel, payload({ kind: "stop", runId })]);
}

/** A queued run that never ran has used nothing: its interrupts are open again. */
export async function reopenAnswers(
  client: pg.PoolClient,
  schema: string,
  thread: ThreadRef,
  runId: string,
): Promise<void> {
  await client.query(
    `update ${schema}.interrupts set answered_by = null, answer = null where ${SAME_THREAD} and answered_by = $4`,
    [...keyOf(thread), runId],
  );
}
