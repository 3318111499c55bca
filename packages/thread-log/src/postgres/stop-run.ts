import type pg from "pg";
import type { RunName, RunRecord } from "../port/run-record.js";
import type { BadRow, StopResult } from "../port/run-registry.js";
import type { ThreadRef } from "../port/thread-ref.js";
import { nameOf, STOP_TOMBSTONE_MS } from "../registry/run-names.js";
import { inTransaction } from "./in-transaction.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { keyOf, type RunRow, toRecords, withoutPayload } from "./run-rows.js";
import { RUN_COLUMNS, SAME_THREAD } from "./sql/fragments.js";

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
    database.tellOwn({ kind: "stop", runId: result.run.runId });
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

/** Heard by every instance when the transaction commits. */
async function notifyStop(
  client: pg.PoolClient,
  { channel, payload }: PostgresDatabase,
  runId: string,
): Promise<void> {
  await client.query("select pg_notify($1, $2)", [channel, payload({ kind: "stop", runId })]);
}
