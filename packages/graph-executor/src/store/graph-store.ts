import {
  AsyncBatchedStore,
  type BaseStore,
  InMemoryStore,
  type Operation,
} from "@langchain/langgraph-checkpoint";
import { underSetupLock } from "../checkpoints/checkpointer.js";
import { DEFAULT_DEADLINE_MS, storePool, surviveBrokenConnections, withoutPooler } from "../store-pool.js";
import { FencedPostgresStore } from "./run-store.js";

/** The graphs' long-term memory and its upkeep, for callers without LangChain. */
export interface GraphStore {
  readonly store: BaseStore;
  /** Creates or migrates what the store needs. Once per process, before the first run. */
  setup(): Promise<void>;
  close(): Promise<void>;
}

/** Gone with the process. */
export function createMemoryGraphStore(): GraphStore {
  return { store: new InMemoryStore(), async setup() {}, async close() {} };
}

export interface PostgresGraphStoreOptions {
  readonly connectionString: string;
  /** The server itself, where `connectionString` leads to a pooler in transaction mode. */
  readonly directConnectionString?: string | undefined;
  /** Default `langgraph`, next to the checkpoints. */
  readonly schema?: string;
  readonly maxConnections?: number;
  /** How long a statement may take before its connection is closed. Default 10 s. */
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

/** The inner store of LangGraph's class; its own types hide it. */
interface BatchedStore {
  readonly store: Pick<BaseStore, "batch">;
  readonly queue: Map<number, Waiting>;
  nextKey: number;
  running: boolean;
}

interface Waiting {
  readonly operation: Operation;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * LangGraph wraps the store of every run in an `AsyncBatchedStore`, which polls its queue with a timer of 0 ms for as long as
 * the run lasts: fifty runs that wait for a model keep a twentieth of a core busy. Here the queue is emptied when something
 * enters it, at the end of the same turn, so that concurrent operations of a node are still one batch.
 *
 * Changes the class for the whole process, and only while it has the members this relies on.
 */
export function emptyBatchesByEvent(): void {
  const { prototype } = AsyncBatchedStore;
  if (!("enqueueOperation" in prototype && "processBatchQueue" in prototype)) return;
  Object.assign(prototype, {
    enqueueOperation(this: BatchedStore, operation: Operation): Promise<unknown> {
      return new Promise((resolve, reject) => {
        if (this.queue.size === 0) setImmediate(() => void emptyQueue(this));
        this.queue.set(this.nextKey, { operation, resolve, reject });
        this.nextKey += 1;
      });
    },
    async processBatchQueue(): Promise<void> {},
  });
}

async function emptyQueue({ store, queue }: BatchedStore): Promise<void> {
  const batch = [...queue.values()];
  queue.clear();
  try {
    const results: readonly unknown[] = await store.batch(batch.map(({ operation }) => operation));
    for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
