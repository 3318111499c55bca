import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type BaseCheckpointSaver,
  type CheckpointListOptions,
  type CheckpointTuple,
  MemorySaver,
} from "@langchain/langgraph-checkpoint";
import { read } from "@throughline/coerce";
import pg from "pg";
import { DEFAULT_DEADLINE_MS, storePool, surviveBrokenConnections, withoutPooler } from "../store-pool.js";
import { checkpointTypes, FencedPostgresSaver } from "./fenced-postgres-saver.js";
import { attachmentSerializer } from "./serializer.js";

/** A saver and its upkeep, for callers that know nothing of LangChain. */
export interface Checkpointer {
  readonly saver: BaseCheckpointSaver;
  /** Creates or migrates what the saver needs. Once per process, before the first run. */
  setup(): Promise<void>;
  close(): Promise<void>;
}

/** Checkpoints that go with the process. */
export function createMemoryCheckpointer(): Checkpointer {
  const saver = new ReadableMemorySaver();
  saver.serde = attachmentSerializer(saver.serde);
  return { saver, async setup() {}, async close() {} };
}

/**
 * MemorySaver with two corrections. It makes room for a graph's first checkpoint before it has it, and fails on a read in
 * between. Its filter compares by identity, so none with a nested value finds anything; PostgreSQL's compares by containment.
 */
class ReadableMemorySaver extends MemorySaver {
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id, checkpoint_ns = "" } = config.configurable ?? {};
    const stored = this.storage[thread_id]?.[checkpoint_ns];
    return stored && Object.keys(stored).length > 0 ? super.getTuple(config) : undefined;
  }

  override async *list(
    config: RunnableConfig,
    { filter, limit, ...options }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    let left = limit ?? Number.POSITIVE_INFINITY;
    if (left <= 0) return;
    for await (const tuple of super.list(config, options)) {
      if (filter && !contains(tuple.metadata, filter)) continue;
      yield tuple;
      left -= 1;
      if (left <= 0) return;
    }
  }
}

/** Whether a value has everything that a filter names, as PostgreSQL's `@>` compares. */
function contains(value: unknown, filter: unknown): boolean {
  if (typeof filter !== "object" || filter === null) return value === filter;
  return Object.entries(filter).every(([key, wanted]) => contains(read(value, key), wanted));
}

export type PostgresCheckpointerOptions = {
  /** Default `langgraph`: its tables stay apart from all others. */
  readonly schema?: string;
} & (
  | {
      readonly connectionString: string;
      /** The server itself, where `connectionString` leads to a pooler in transaction mode. */
      readonly directConnectionString?: string | undefined;
      readonly maxConnections?: number;
      /** How long a statement may take before its connection is closed. Default 10 s. */
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

const SETUP_LOCK = 8_217_003_641;

/** Instances start together, and LangGraph's own migrations take no lock: the second would fail on what the first made. */
export async function underSetupLock(pool: pg.Pool, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [SETUP_LOCK]);
    await work();
  } finally {
    // Ends the session, and the lock with it, whatever state it is in.
    client.release(true);
  }
}
