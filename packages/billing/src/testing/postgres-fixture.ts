import { randomBytes } from "node:crypto";
import pg from "pg";
import type { LedgerDatabase } from "../ledger/ledger.js";
import { BILLING_MIGRATIONS } from "../schema.js";

export interface PostgresFixture {
  /** Tables of its own on the one server. */
  openDatabase(): Promise<LedgerDatabase>;
  close(): Promise<void>;
}

/** For tests: a PostgreSQL of their own with billing's tables. */
export async function startPostgresFixture(): Promise<PostgresFixture> {
  const { launchPostgres } = await import("../../../../scripts/launch-postgres.mjs");
  const server = await launchPostgres();
  // A server that is stopped may still break an idle connection.
  const pool = new pg.Pool({ connectionString: server.url, max: 8 }).on("error", () => {});
  return {
    async openDatabase() {
      const schema = `billing_${randomBytes(6).toString("hex")}`;
      await pool.query(`create schema ${schema}`);
      for (const { statements } of BILLING_MIGRATIONS) {
        for (const statement of statements(schema)) await pool.query(statement);
      }
      return { pool, schema };
    },
    async close() {
      await pool.end();
      await server.stop();
    },
  };
}
