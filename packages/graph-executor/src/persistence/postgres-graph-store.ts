import { FencedPostgresStore } from "./fenced-postgres-store.js";
import type { GraphStore } from "./graph-store.js";
import { underSetupLock } from "./setup-lock.js";
import { DEFAULT_DEADLINE_MS, storePool, surviveBrokenConnections, withoutPooler } from "./store-pool.js";

export interface PostgresGraphStoreOptions {
  readonly connectionString: string;
  /** The server itself, where `connectionString` leads to a pooler in transaction mode. */
  readonly directConnectionString?: string | undefined;
  /** Default `langgraph`, beside the checkpoints. */
  readonly schema?: string;
  readonly maxConnections?: number;
  /** How long a statement may take before its connection is given up. Default 10 s. */
  readonly deadlineMs?: number;
}

export function createPostgresGraphStore(options: PostgresGraphStoreOptions): GraphStore {
  const store = openStore(options, options.deadlineMs ?? DEFAULT_DEADLINE_MS);
  return {
    store,
    async setup() {
      // A migration takes as long as it takes, and so does waiting for the instance that does it.
      const patient = openStore(withoutPooler(options), 0);
      try {
        await underSetupLock(patient.pool, () => patient.setup());
      } finally {
        await patient.stop();
      }
    },
    close: () => store.stop(),
  };
}

function openStore(
  {
    connectionString,
    directConnectionString,
    schema = "langgraph",
    maxConnections = 4,
  }: PostgresGraphStoreOptions,
  deadlineMs: number,
): FencedPostgresStore {
  const name = "throughline store";
  const isPooled = directConnectionString !== undefined;
  const connection = storePool({ connectionString, maxConnections, name, deadlineMs, isPooled });
  const store = new FencedPostgresStore(connection, schema);
  surviveBrokenConnections(store.pool);
  return store;
}
