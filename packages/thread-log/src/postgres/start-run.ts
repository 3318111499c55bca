import type pg from "pg";
import type { StartResult, StartRun } from "../port/run-registry.js";
import type { ThreadRef } from "../port/thread-ref.js";
import { answerIds, canonicalJson, decideStart, type ThreadRuns } from "../registry/decide-start.js";
import { BUSY_RETRY_MS, checkAlias } from "../registry/run-names.js";
import { inTransaction } from "./in-transaction.js";
import { leaseRun, lockThread, setAsideQuestions } from "./lease-runs.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { keyOf, QUEUE_ORDER, RUN_COLUMNS, type RunRow, SAME_THREAD, toRecord } from "./run-rows.js";

/** Asked in the transaction that makes something, before it is made; throws what forbids it. */
export type AdmitInTransaction = (
  client: pg.PoolClient,
  scope: Partial<ThreadRef> & Pick<ThreadRef, "account">,
) => Promise<void>;

/** One transaction under the thread's lock: look, decide (`decideStart`), write. Once per run, so round trips do not matter. */
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
        await insert(client, schema, request, "queued");
        await consumeAnswers(client, schema, request);
        if (request.strategy === "preempt" && request.start.kind === "input") {
          await setAsideQuestions(client, schema, request.thread);
        }
        await client.query(`update ${schema}.threads set state_key = $4 where ${SAME_THREAD}`, [
          ...keyOf(request.thread),
          request.stateKey,
        ]);
        return { kind: "started", ...(await leaseRun(client, schema, request.runId, request, false)) };
      }
    }
  });
  if (result.kind === "queued" && result.preempted !== undefined) {
    database.tellOwn({ kind: "stop", runId: result.preempted });
  }
  return result;
}

async function look(
  client: pg.PoolClient,
  schema: string,
  { thread, runId, alias, start }: StartRun,
): Promise<ThreadRuns> {
  const key = keyOf(thread);
  const names = alias === undefined ? [runId] : [runId, alias];
  const { rows: same } = await client.query<{ run_id: string }>(
    `select run_id from ${schema}.runs where ${SAME_THREAD} and (run_id = $4 or alias = $5)`,
    [...key, runId, alias ?? null],
  );
  const stops = await client.query(
    `select 1 from ${schema}.stops where ${SAME_THREAD} and run_name = any($4) and expires_at > clock_timestamp()`,
    [...key, names],
  );
  const { rows: open } = await client.query<{ run_id: string; status: string; preempts: boolean }>(
    `select run_id, status, preempts from ${schema}.runs where ${SAME_THREAD} and status in ('running', 'queued')
     order by ${QUEUE_ORDER}`,
    [...key],
  );
  const { rows: interrupts } = await client.query<{
    interrupt_id: string;
    answered_by: string | null;
    answer: string | null;
  }>(
    `select interrupt_id, answered_by, answer from ${schema}.interrupts
     where ${SAME_THREAD} and (answered_by is null or interrupt_id = any($4)) order by interrupt_id`,
    [...key, answerIds(start)],
  );
  const queued = open.filter(({ status }) => status === "queued");
  return {
    same: same[0]?.run_id,
    stopped: stops.rowCount !== 0,
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

async function insert(
  client: pg.PoolClient,
  schema: string,
  request: StartRun,
  status: "queued" | "cancelled",
): Promise<RunRow> {
  const ended = status === "cancelled";
  const { rows } = await client.query<RunRow>(
    `insert into ${schema}.runs (account, subject, thread_id, run_id, alias, graph_id, origin_kind, origin_id, status,
       start, start_kind, request, upstream_run_id, preempts, ended_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, case when $15 then clock_timestamp() end)
     returning ${RUN_COLUMNS}`,
    [
      ...keyOf(request.thread),
      request.runId,
      request.alias ?? null,
      request.graphId,
      request.origin.kind,
      request.origin.id ?? null,
      status,
      ended ? null : JSON.stringify(request.start),
      request.start.kind,
      JSON.stringify(request.request),
      request.upstreamRunId ?? null,
      request.strategy === "preempt",
      ended,
    ],
  );
  if (!rows[0]) throw new Error("an insert gives back its row");
  return rows[0];
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
