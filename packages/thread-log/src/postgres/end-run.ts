import type { Fence } from "@throughline/ai-core";
import type { Finish, FinishResult, RunName, StopResult } from "../port/run-registry.js";
import type { ThreadRef } from "../port/thread-ref.js";
import { nameOf, STOP_TOMBSTONE_MS } from "../registry/run-names.js";
import { inTransaction } from "./in-transaction.js";
import { lockThread } from "./lease-runs.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { keyOf, QUEUE_ORDER, RUN_COLUMNS, type RunRow, SAME_THREAD, threadOf, toRecord } from "./run-rows.js";
import { askToStop, notifyStop, reopenAnswers } from "./start-run.js";

export async function finishRun(
  { pool, schema }: PostgresDatabase,
  fence: Fence,
  { status, interrupts = [] }: Finish,
): Promise<FinishResult> {
  return inTransaction(pool, async (client): Promise<FinishResult> => {
    const { rows: scope } = await client.query<Pick<RunRow, "account" | "subject" | "thread_id">>(
      `select account, subject, thread_id from ${schema}.runs where run_id = $1`,
      [fence.runId],
    );
    if (!scope[0]) return { ok: false, reason: "ended" };
    const thread = threadOf(scope[0]);
    await lockThread(client, schema, thread);
    const ended = await client.query(
      `update ${schema}.runs set status = $3, ended_at = clock_timestamp(), owner = null, lease_until = null, start = null
       where run_id = $1 and fence = $2 and status = 'running'`,
      [fence.runId, fence.token.toString(), status],
    );
    if (ended.rowCount !== 1) {
      const { rows } = await client.query<{ status: string }>(
        `select status from ${schema}.runs where run_id = $1`,
        [fence.runId],
      );
      return { ok: false, reason: rows[0]?.status === "running" ? "fenced" : "ended" };
    }
    const key = keyOf(thread);
    await client.query(`delete from ${schema}.interrupts where ${SAME_THREAD} and answered_by is null`, [
      ...key,
    ]);
    await client.query(
      `insert into ${schema}.interrupts (account, subject, thread_id, interrupt_id, run_id)
       select $1, $2, $3, id, $4 from unnest($5::text[]) as id
       on conflict (account, subject, thread_id, interrupt_id) do update
       set run_id = excluded.run_id, answered_by = null, answer = null`,
      [...key, fence.runId, [...new Set(interrupts)]],
    );
    const { rows: waiting } = await client.query<{ run_id: string }>(
      `select run_id from ${schema}.runs where ${SAME_THREAD} and status = 'queued' order by ${QUEUE_ORDER} limit 1`,
      [...key],
    );
    return { ok: true, next: waiting[0]?.run_id };
  });
}

export async function stopRun(
  database: PostgresDatabase,
  thread: ThreadRef,
  name: RunName,
): Promise<StopResult> {
  const { pool, schema } = database;
  const result = await inTransaction(pool, async (client): Promise<StopResult> => {
    await lockThread(client, schema, thread);
    const { rows } = await client.query<RunRow>(
      `select ${RUN_COLUMNS} from ${schema}.runs where ${SAME_THREAD} and ${"runId" in name ? "run_id" : "alias"} = $4`,
      [...keyOf(thread), nameOf(name)],
    );
    const row = rows[0];
    if (!row) {
      await client.query(
        `insert into ${schema}.stops (account, subject, thread_id, run_name, expires_at)
         values ($1, $2, $3, $4, clock_timestamp() + $5::double precision * interval '1 millisecond')
         on conflict (account, subject, thread_id, run_name) do update set expires_at = excluded.expires_at`,
        [...keyOf(thread), nameOf(name), STOP_TOMBSTONE_MS],
      );
      await client.query(`delete from ${schema}.stops where expires_at < clock_timestamp()`);
      return { kind: "unknown" };
    }
    if (row.status === "running") {
      await askToStop(client, database, row.run_id);
      return { kind: "stopping", run: toRecord({ ...row, stop_requested: true }) };
    }
    if (row.status !== "queued") return { kind: "ended", run: toRecord(row) };
    await reopenAnswers(client, schema, thread, row.run_id);
    const { rows: cancelled } = await client.query<RunRow>(
      `update ${schema}.runs set status = 'cancelled', ended_at = clock_timestamp(), start = null where run_id = $1
       returning ${RUN_COLUMNS}`,
      [row.run_id],
    );
    await notifyStop(client, database, row.run_id);
    return { kind: "cancelled", run: toRecord(cancelled[0] ?? row) };
  });
  if (result.kind === "stopping" || result.kind === "cancelled") {
    database.tellOwn({ kind: "stop", runId: result.run.runId });
  }
  return result;
}

/**
 * Of all threads at once; `threadId` narrows it to one. Gives the runs that were asked to stop. A run past its lease has
 * nobody who would end it: the fence keeps its driver out, should that ever come back.
 */
export async function forgetRuns(
  database: PostgresDatabase,
  scope: { readonly account: string; readonly subject: string | undefined; readonly threadId?: string },
): Promise<readonly string[]> {
  const { pool, schema } = database;
  const where =
    "account = $1 and ($2::text is null or subject = $2) and ($3::text is null or thread_id = $3)";
  const key = [scope.account, scope.subject ?? null, scope.threadId ?? null];
  const stopping = await inTransaction(pool, async (client) => {
    await client.query(
      `with locked as (select log_id from ${schema}.threads where ${where} and fence > 0 order by log_id for update)
       update ${schema}.threads t set fence = greatest(t.fence + 1, nextval('${schema}.fences'))
       from locked where t.log_id = locked.log_id`,
      key,
    );
    await client.query(
      `delete from ${schema}.runs where ${where} and (status <> 'running' or lease_until < clock_timestamp())`,
      key,
    );
    await client.query(`delete from ${schema}.interrupts where ${where}`, key);
    await client.query(`delete from ${schema}.stops where ${where}`, key);
    const { rows } = await client.query<{ run_id: string }>(
      `select run_id from ${schema}.runs where ${where} and status = 'running' order by run_id`,
      key,
    );
    for (const { run_id } of rows) await askToStop(client, database, run_id);
    return rows.map(({ run_id }) => run_id);
  });
  for (const runId of stopping) database.tellOwn({ kind: "stop", runId });
  return stopping;
}
