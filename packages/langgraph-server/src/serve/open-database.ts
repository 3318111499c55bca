import type { ServerConfig } from "../config/read-config.js";
import { startEmbeddedDatabase } from "../database/embedded-database.js";

export interface OpenDatabase {
  readonly url: string;
  /** Stops it, where it was started here. */
  stop(): Promise<void>;
}

/** The PostgreSQL that was named, else one of our own. */
export async function openDatabase(
  { databaseUrl, dataDir }: Pick<ServerConfig, "databaseUrl" | "dataDir">,
  log: ((line: string) => void) | undefined,
): Promise<OpenDatabase> {
  if (databaseUrl !== undefined) return { url: databaseUrl, stop: async () => {} };
  return startEmbeddedDatabase({ ...(dataDir !== undefined && { dataDir }), ...(log && { log }) });
}
