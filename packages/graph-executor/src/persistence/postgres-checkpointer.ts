import pg from "pg";
import { attachmentSerializer } from "./attachment-serializer.js";
import { checkpointTypes } from "./bytea-arrays.js";
import type { Checkpointer } from "./checkpointer.js";
import { FencedPostgresSaver } from "./fenced-postgres-saver.js";
import { underSetupLock } from "./setup-lock.js";
import { DEFAULT_DEADLINE_MS, storePool, surviveBrokenConnections, withoutPooler } from "./store-pool.js";

export type PostgresCheckpointerOptions = {
  /** Default `langgraph`: its tables stay apart from all others. */
  readonly schema?: string;
} & (
  | {
      readonly connectionString: string;
      /** The server itself, where `connectionString` leads to a pooler in transaction mode. */
      readonly directConnectionString?: string | undefined;
      readonly maxConnections?: number;
      /** How long a statement may take before its connection is given up. Default 10 s. */
      readonly deadlineMs?: number;
    }
  /** Stays open when the checkpointer closes. */
  | { readonly pool: pg.Pool }
);

export function createPostgresCheckpointer(options: PostgresCheckpointerOptions): Checkpointer {
  const schema = options.schema ?? "langgraph";
  const isShared = "pool" in options;
  const pool = isShared ? options.pool : createPool(options, options.deadlineMs ?? DEFAULT_DEADLINE_MS);
  const saver = new FencedPostgresSaver(pool, schema);
  saver.serde = attachmentSerializer(saver.serde);
  return {
    saver,
    async setup() {
      if (isShared) return underSetupLock(pool, () => saver.setup());
      // A migration takes as long as it takes, and so does waiting for the instance that does it.
      const patient = createPool(withoutPooler(options), 0);
      try {
        await underSetupLock(patient, () => new FencedPostgresSaver(patient, schema).setup());
      } finally {
        await patient.end();
      }
    },
    async close() {
      if (!isShared) await pool.end();
    },
  };
}

type OwnPool = Exclude<PostgresCheckpointerOptions, { readonly pool: pg.Pool }>;

function createPool(
  { connectionString, directConnectionString, maxConnections = 8 }: OwnPool,
  deadlineMs: number,
): pg.Pool {
  const name = "throughline checkpoints";
  const isPooled = directConnectionString !== undefined;
  const config = storePool({ connectionString, maxConnections, name, deadlineMs, isPooled });
  return surviveBrokenConnections(new pg.Pool({ ...config, types: checkpointTypes }));
}
