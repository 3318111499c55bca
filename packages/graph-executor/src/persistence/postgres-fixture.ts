export interface PostgresFixture {
  readonly url: string;
  stop(): Promise<void>;
}

/** For tests: a PostgreSQL of their own, on a socket in a folder that goes with it. */
export async function startPostgresFixture(): Promise<PostgresFixture> {
  const { launchPostgres } = await import("../../../../scripts/launch-postgres.mjs");
  return launchPostgres();
}
