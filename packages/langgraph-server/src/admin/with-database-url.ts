import type { ServerConfig } from "../config/read-config.js";
import { startEmbeddedDatabase } from "../database/embedded-database.js";

/** Works on the database that settings name. An embedded PostgreSQL is started for it, or shared if it runs. */
export async function withDatabaseUrl<Result>(
  { databaseUrl, dataDir }: Pick<ServerConfig, "databaseUrl" | "dataDir">,
  work: (databaseUrl: string) => Promise<Result>,
): Promise<Result> {
  if (databaseUrl !== undefined) return work(databaseUrl);
  const embedded = await startEmbeddedDatabase(dataDir === undefined ? {} : { dataDir });
  try {
    return await work(embedded.url);
  } finally {
    await embedded.stop();
  }
}
