import pg from "pg";

/**
 * A test's own connections to its database. `pg.Pool.end` does not wait until its connections have closed, so a server that is
 * stopped right after may still break one: without a listener that would fail the whole test run.
 */
export function openTestPool(url: string, max?: number): pg.Pool {
  return new pg.Pool({ connectionString: url, max }).on("error", () => {});
}
