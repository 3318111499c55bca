import { ThroughlineError } from "@throughline/ai-core";
import { hasInstances, migrate, renewEpochs, THREAD_LOG_MIGRATIONS } from "@throughline/thread-log";
import pg from "pg";
import type { ServerConfig } from "../config/read-config.js";
import { withDatabaseUrl } from "./with-database-url.js";

const SCHEMA = "throughline";

/**
 * R19, for a restore that a database can't notice by itself: every thread gets a new epoch. Throws `conflict` while an
 * instance uses the database, because what it writes meanwhile would count as restored. Gives how many threads there are.
 */
export function renewAllEpochs(
  config: Pick<ServerConfig, "databaseUrl" | "databaseDirectUrl" | "dataDir">,
): Promise<number> {
  return withDatabaseUrl(config, async (url) => {
    const pool = new pg.Pool({ connectionString: config.databaseDirectUrl ?? url, max: 1 });
    pool.on("error", () => {});
    try {
      if (await hasInstances(pool)) {
        throw new ThroughlineError(
          "conflict",
          "An instance uses this database. Stop all of them, then try again.",
        );
      }
      await migrate(pool, SCHEMA, { record: "migrations", migrations: THREAD_LOG_MIGRATIONS });
      return await renewIn(pool);
    } finally {
      await pool.end();
    }
  });
}

async function renewIn(pool: pg.Pool): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await renewEpochs(client, SCHEMA);
    const { rows } = await client.query<{ threads: number }>(
      `select count(*)::int as threads from ${SCHEMA}.threads`,
    );
    await client.query("commit");
    return rows[0]?.threads ?? 0;
  } finally {
    // A connection in the middle of a transaction is not used again.
    client.release(true);
  }
}
