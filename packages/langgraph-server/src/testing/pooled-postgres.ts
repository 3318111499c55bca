import { openTestPostgres } from "./test-postgres.js";

export interface PooledPostgres {
  /** Through a pooler in transaction mode. */
  readonly url: string;
  readonly directUrl: string;
  close(): Promise<void>;
}

/** What is missing to run a pooler here. A laptop may lack it; CI that lacks it has not tested what it claims. */
export async function findMissingPooler(): Promise<string | undefined> {
  const { findMissingPgbouncer } = await import("../../../../scripts/launch-pgbouncer.mjs");
  const missing = findMissingPgbouncer();
  if (missing === undefined) return undefined;
  if (process.env.CI === "true") throw new Error(missing);
  console.warn(`Skipped: ${missing}`);
  return missing;
}

/** A database of its own, reached through a pgbouncer. */
export async function openPooledPostgres(): Promise<PooledPostgres> {
  const { launchPgbouncer } = await import("../../../../scripts/launch-pgbouncer.mjs");
  const postgres = await openTestPostgres();
  const pooler = await launchPgbouncer(postgres.url);
  return {
    url: pooler.url,
    directUrl: postgres.url,
    async close() {
      await pooler.stop();
      await postgres.close();
    },
  };
}
