import type pg from "pg";
import type { BadRow, RunName, RunRecord, StopResult } from "../../registry/run-registry.js";
import { nameOf, STOP_TOMBSTONE_MS } from "../../registry/start-decision.js";
import type { ThreadRef } from "../../thread-ref.js";
import { inTransaction } from "../connection/transaction.js";
import type { PostgresDatabase } from "../database.js";
import { keyOf, RUN_COLUMNS, type RunRow, SAME_THREAD, toRecords, withoutPayload } from "./run-rows.js";

/** Under the thread's lock: a start that looked before it looks again, and finds the stop. */
export async function stopRun(
  database: PostgresDatabase,
  thread: ThreadRef,
  name: RunName,
  onBadRow: (row: BadRow) => void,
): Promise<StopResult> {
  const { pool, schema } = database;
  // A run that can't be read can be stopped all the same.
  const recordOf = (row: RunRow): RunRecord => toRecords([row], onBadRow)[0] ?? withoutPayload(row);
  const columns = RUN_COLUMNS.join(", ");
  const result = await inTransaction(pool, async (client): Promise<StopResult> => {
    await lockThread(client, schema, thread);
    const { rows } = await client.query<RunRow>(
      `select ${columns} from ${schema}.runs where ${SAME_THREAD} and ${"runId" in name ? "run_id" : "alias"} = $4`,
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
      return { kind: "stopping", run: recordOf({ ...row, stop_requested: true }) };
    }
    if (row.status !== "queued") return { kind: "ended", run: recordOf(row) };
    // A queued run that never ran has used nothing: its interrupts are open again.
    await client.query(
      `update ${schema}.interrupts set answered_by = null, answer = null where ${SAME_THREAD} and answered_by = $4`,
      [...keyOf(thread), row.run_id],
    );
    const { rows: cancelled } = await client.query<RunRow>(
      `update ${schema}.runs set status = 'cancelled', ended_at = clock_timestamp(), start = null where run_id = $1
       returning ${columns}`,
      [row.run_id],
    );
    await notifyStop(client, database, row.run_id);
    return { kind: "cancelled", run: recordOf(cancelled[0] ?? row) };
  });
  if (result.kind === "stopping" || result.kind === "cancelled") {
    database.notifySelf({ kind: "stop", runId: result.run.runId });
  }
  return result;
}

/**
 * Every change of a thread's runs happens under this lock and moves the revision. A thread that is not there yet is locked by
 * making it, with a fence that no writer ever has.
 */
async function lockThread(client: pg.PoolClient, schema: string, thread: ThreadRef): Promise<void> {
  await client.query(
    `insert into ${schema}.threads as t (account, subject, thread_id, epoch, fence, revision)
     values ($1, $2, $3, replace(gen_random_uuid()::text, '-', ''), 0, 1)
     on conflict (account, subject, thread_id) do update set revision = t.revision + 1`,
    [...keyOf(thread)],
  );
}

export async function askToStop(
  client: pg.PoolClient,
  database: PostgresDatabase,
  runId: string,
): Promise<void> {
  await client.query(`update ${database.schema}.runs set stop_requested = true where run_id = $1`, [runId]);
  await notifyStop(client, database, runId);
}

/** Notifies every instance of a stop, when the transaction commits. */
async function notifyStop(
  client: pg.PoolClient,
  { channel, payload }: PostgresDatabase,
  runId: string,
): Promise<void> {
  await client.query("select pg_notify($1, $2)", [channel, payload({ kind: "stop", runId })]);
}

/** Skips rows that are locked: another instance may be pruning them. A start need not know: a run that ended long ago decides nothing. */
export async function pruneRuns(
  { pool, schema }: PostgresDatabase,
  olderThanMs: number,
  limit: number,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    await client.query(`delete from ${schema}.stops where expires_at < clock_timestamp()`);
    const { rows } = await client.query<{ run_id: string }>(
      // Materialized: joined to the rows it deletes, the limit would be counted separately for each of them in some plans.
      `with past as materialized (
         select run_id from ${schema}.runs r
         where ended_at < clock_timestamp() - $1::double precision * interval '1 millisecond' and not exists (
           select 1 from ${schema}.interrupts i
           where i.account = r.account and i.subject = r.subject and i.thread_id = r.thread_id
             and i.run_id = r.run_id and i.answered_by is null)
         order by ended_at limit $2 for update skip locked)
       delete from ${schema}.runs r using past where r.run_id = past.run_id
       returning r.run_id`,
      [olderThanMs, limit],
    );
    const runIds = rows.map(({ run_id }) => run_id);
    // A response is stored so that the same one again finds its run; without the run it leads nowhere.
    if (runIds.length > 0) {
      await client.query(`delete from ${schema}.interrupts where answered_by = any($1)`, [runIds]);
    }
    return runIds.length;
  });
}
