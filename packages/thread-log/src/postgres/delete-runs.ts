import { inTransaction } from "./in-transaction.js";
import type { PostgresDatabase } from "./open-postgres.js";
import { askToStop } from "./stop-run.js";

/**
 * Of all threads at once; `threadId` narrows it to one. Gives the runs that were asked to stop. A run past its lease has no
 * driver that would end it: the fence keeps its driver out, should that ever come back.
 */
export async function deleteRuns(
  database: PostgresDatabase,
  scope: { readonly account: string; readonly subject: string | undefined; readonly threadId?: string },
): Promise<readonly string[]> {
  const { pool, schema } = database;
  const where =
    "account = $1 and ($2::text is null or subject = $2) and ($3::text is null or thread_id = $3)";
  const key = [scope.account, scope.subject ?? null, scope.threadId ?? null];
  const stopping = await inTransaction(pool, async (client) => {
    await client.query(
      `with locked as (select log_id from ${schema}.threads where ${where} order by log_id for update)
       update ${schema}.threads t set revision = t.revision + 1,
         fence = case when t.fence > 0 then greatest(t.fence + 1, nextval('${schema}.fences')) else 0 end
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
      // Those that are left. In the order in which others lock several.
      `select run_id from ${schema}.runs where ${where} order by run_id`,
      key,
    );
    for (const { run_id } of rows) await askToStop(client, database, run_id);
    return rows.map(({ run_id }) => run_id);
  });
  for (const runId of stopping) database.tellOwn({ kind: "stop", runId });
  return stopping;
}
