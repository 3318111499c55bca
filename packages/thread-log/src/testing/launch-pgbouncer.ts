export interface Pgbouncer {
  readonly url: string;
  stop(): Promise<void>;
}

/** What is missing to run a pgbouncer here. */
export async function findMissingPgbouncer(): Promise<string | undefined> {
  const scripts = await import("../../../../scripts/launch-pgbouncer.mjs");
  return scripts.findMissingPgbouncer();
}

/** A pooler in transaction mode in front of a PostgreSQL. */
export async function launchPgbouncer(target: string): Promise<Pgbouncer> {
  const scripts = await import("../../../../scripts/launch-pgbouncer.mjs");
  return scripts.launchPgbouncer(target);
}
