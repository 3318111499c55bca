import { startEmbeddedPostgres } from "@throughline/thread-log";
import type { ServerConfig } from "../config/read-config.js";

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
  return startEmbeddedPostgres({ ...(dataDir !== undefined && { dataDir }), ...(log && { log }) });
}
