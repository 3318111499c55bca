import type pg from "pg";
import { MIGRATION_MS } from "../postgres/deadlines.js";
import { inTransaction } from "../postgres/in-transaction.js";
import type { PostgresDatabase } from "../postgres/open-postgres.js";

/**
 * Call at start, before the log is used. A log that moves between PostgreSQL and Redis leaves behind what the other can't
 * read; when it moves back to PostgreSQL, its rows know terminals and snapshots but not what lay between, and positions that
 * readers have seen in Redis would be given out again. So every thread goes on after what is known of it, in a new epoch.
 * The other way round needs nothing: a stream that Redis does not know counts as lost. Gives whether the log has moved.
 */
export async function settleLogHome(
  database: PostgresDatabase,
  home: "postgres" | "redis",
): Promise<boolean> {
  const { pool, schema } = database;
  const settle = async (client: pg.PoolClient): Promise<boolean> => {
    const inserted = await client.query(
      `insert into ${schema}.meta (key, value) values ('log home', $1) on conflict do nothing`,
      [home],
    );
    if (inserted.rowCount === 1) return false;
    const moved = await client.query(
      `update ${schema}.meta set value = $1 where key = 'log home' and value <> $1`,
      [home],
    );
    if (moved.rowCount !== 1) return false;
    if (home === "postgres") {
      await client.query(
        `update ${schema}.threads set epoch = replace(gen_random_uuid()::text, '-', ''), floor = head + 1, last_append = null,
           held_bytes = 0, unfolded_bytes = 0, snapshot_seq = case when snapshot_seq = head then head else 0 end
         where not deleted`,
      );
      await client.query(
        `delete from ${schema}.snapshots s using ${schema}.threads t where s.log_id = t.log_id and s.seq < t.head`,
      );
    }
    return true;
  };
  return inTransaction(pool, settle, { statementMs: MIGRATION_MS });
}
