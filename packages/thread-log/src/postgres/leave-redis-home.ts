import type pg from "pg";
import { MIGRATION_MS } from "./connection/pool.js";
import { inTransaction } from "./connection/transaction.js";
import type { PostgresDatabase } from "./database.js";
import {
  dropStaleSnapshotsStatement,
  forgetLogHomeStatement,
  restartLogsStatement,
} from "./sql/leave-redis-home.js";

/**
 * Call at start, before the log is used. Earlier versions could store the entries of a log in Redis; a database that they
 * leave behind knows ends of runs and snapshots, but not what lay between. Every thread then goes on after what is known of
 * it, in a new epoch, and what it shows comes from its checkpoint. Gives whether this was such a database.
 */
export async function leaveRedisHome({
  pool,
  schema,
}: Pick<PostgresDatabase, "pool" | "schema">): Promise<boolean> {
  const leave = async (client: pg.PoolClient): Promise<boolean> => {
    const { rows } = await client.query<{ value: string }>(forgetLogHomeStatement(schema));
    if (rows[0]?.value !== "redis") return false;
    await client.query(restartLogsStatement(schema));
    await client.query(dropStaleSnapshotsStatement(schema));
    return true;
  };
  return inTransaction(pool, leave, { statementMs: MIGRATION_MS });
}
