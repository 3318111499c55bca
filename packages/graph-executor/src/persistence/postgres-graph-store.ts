import { PostgresStore } from "@langchain/langgraph-checkpoint-postgres/store";
import { ThroughlineError } from "@throughline/ai-core";
import { read } from "@throughline/coerce";
import pg from "pg";
import type { GraphStore } from "./graph-store.js";
import { PATIENT_POOL } from "./patient-pool.js";
import { underSetupLock } from "./setup-lock.js";

export interface PostgresGraphStoreOptions {
  readonly connectionString: string;
  /** Default `langgraph`, beside the checkpoints. */
  readonly schema?: string;
  readonly maxConnections?: number;
}

export function createPostgresGraphStore(options: PostgresGraphStoreOptions): GraphStore {
  const { connectionString, schema = "langgraph", maxConnections = 4 } = options;
  const store = new PostgresStore({
    connectionOptions: {
      connectionString,
      max: Math.max(2, maxConnections),
      application_name: "throughline store",
      ...PATIENT_POOL,
    },
    schema,
    ensureTables: false,
  });
  const pool = read(read(store, "core"), "pool");
  if (!(pool instanceof pg.Pool)) {
    throw new ThroughlineError("internal", "This version of the store keeps its connections elsewhere.");
  }
  // An idle connection that breaks is replaced when the next query needs one; without a listener it would end the process.
  pool.on("error", () => {});
  return {
    store,
    setup: () => underSetupLock(pool, () => store.setup()),
    close: () => store.stop(),
  };
}
