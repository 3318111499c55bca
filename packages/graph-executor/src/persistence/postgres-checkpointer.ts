import pg from "pg";
import { attachmentSerializer } from "./attachment-serializer.js";
import { checkpointTypes } from "./bytea-arrays.js";
import type { Checkpointer } from "./checkpointer.js";
import { OneStatementSaver } from "./one-statement-saver.js";
import { PATIENT_POOL } from "./patient-pool.js";
import { underSetupLock } from "./setup-lock.js";

export type PostgresCheckpointerOptions = {
  /** Default `langgraph`: its tables stay apart from everybody else's. */
  readonly schema?: string;
} & (
  | {
      readonly connectionString: string;
      readonly maxConnections?: number;
      /** Past this time without a statement the database ends a transaction. Default 15 s, as long as a lease usually is. */
      readonly standstillMs?: number;
    }
  /** Stays open when the checkpointer closes. */
  | { readonly pool: pg.Pool }
);

export function createPostgresCheckpointer(options: PostgresCheckpointerOptions): Checkpointer {
  const isShared = "pool" in options;
  const pool = isShared ? options.pool : createPool(options);
  const saver = new OneStatementSaver(pool, options.schema ?? "langgraph");
  saver.serde = attachmentSerializer(saver.serde);
  return {
    saver,
    setup: () => underSetupLock(pool, () => saver.setup()),
    async close() {
      if (!isShared) await pool.end();
    },
  };
}

type OwnPool = Exclude<PostgresCheckpointerOptions, { readonly pool: pg.Pool }>;

function createPool({ connectionString, maxConnections = 8, standstillMs = 15_000 }: OwnPool): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max: Math.max(2, maxConnections),
    application_name: "throughline checkpoints",
    ...PATIENT_POOL,
    types: checkpointTypes,
    // A process that is paused in the middle of a write holds rows that whoever takes its run over has to write too. Not a
    // parameter of the connection: poolers refuse those.
    async onConnect(client) {
      // The saver listens for no errors between two statements of a transaction, and one without a listener ends the process.
      client.on("error", () => {});
      await client.query(`set idle_in_transaction_session_timeout = ${standstillMs}`);
    },
  });
  // An idle connection that breaks is replaced when the next query needs one; without a listener it would end the process.
  pool.on("error", () => {});
  return pool;
}
