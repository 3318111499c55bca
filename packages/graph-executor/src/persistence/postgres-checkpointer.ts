import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import pg from "pg";
import type { Checkpointer } from "./checkpointer.js";

export type PostgresCheckpointerOptions = {
  /** Default `langgraph`: its tables stay apart from everybody else's. */
  readonly schema?: string;
} & (
  | { readonly connectionString: string; readonly maxConnections?: number }
  /** Stays open when the checkpointer closes. */
  | { readonly pool: pg.Pool }
);

const SETUP_LOCK = 8_217_003_641;

export function createPostgresCheckpointer(options: PostgresCheckpointerOptions): Checkpointer {
  const isShared = "pool" in options;
  const pool = isShared ? options.pool : createPool(options.connectionString, options.maxConnections);
  const saver = new PostgresSaver(pool, undefined, { schema: options.schema ?? "langgraph" });
  return {
    saver,
    // Instances start together, and the saver's own migration takes no lock: the second would fail on what the first made.
    setup: () => underLock(pool, () => saver.setup()),
    async close() {
      if (!isShared) await pool.end();
    },
  };
}

async function underLock(pool: pg.Pool, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [SETUP_LOCK]);
    await work();
  } finally {
    // Ends the session, and the lock with it, whatever state it is in.
    client.release(true);
  }
}

function createPool(connectionString: string, max = 8): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max: Math.max(2, max),
    application_name: "throughline checkpoints",
    connectionTimeoutMillis: 5_000,
  });
  // An idle connection that breaks is replaced when the next query needs one; without a listener it would end the process.
  pool.on("error", () => {});
  return pool;
}
