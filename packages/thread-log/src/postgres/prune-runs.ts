import { inTransaction } from "./in-transaction.js";
import type { PostgresDatabase } from "./open-postgres.js";

/** Skips rows that are locked: another instance may be pruning them. A start need not know: a run that ended long ago decides nothing. */
export async function pruneRuns(
  { pool, schema }: PostgresDatabase,
  olderThanMs: number,
  limit: number,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    await client.query(`delete from ${schema}.stops where expires_at < clock_timestamp()`);
    const { rows } = await client.query<{ run_id: string }>(
      // Materialized: joined to the rows it deletes, the limit would count anew for each of them in some plans.
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
    // An answer is kept so that the same one again finds its run; without the run it leads nowhere.
    if (runIds.length > 0) {
      await client.query(`delete from ${schema}.interrupts where answered_by = any($1)`, [runIds]);
    }
    return runIds.length;
  });
}
