import type { Clock } from "@throughline/ai-core";
import {
  type Checkpointer,
  createMemoryCheckpointer,
  createPostgresCheckpointer,
} from "@throughline/graph-executor";
import { threadFoldPort } from "@throughline/stream-adapter";
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
  type MemoryDatabase,
  openPostgres,
  openRedisLogStore,
  type RunRegistry,
  settleLogHome,
  type ThreadLog,
} from "@throughline/thread-log";
import type { ServiceObserver } from "./drive/service-observer.js";

export type ServiceStore =
  /** Everything is gone with the process. Services that share both parts are several instances of one. */
  | { readonly kind: "memory"; readonly shared?: SharedMemory }
  /** Log, registry and checkpoints in one PostgreSQL; with `redisUrl` the live log is in Redis (R22). */
  | { readonly kind: "postgres"; readonly databaseUrl: string; readonly redisUrl?: string };

export interface SharedMemory {
  readonly database: MemoryDatabase;
  readonly checkpointer: Checkpointer;
}

export interface Stores {
  readonly log: ThreadLog;
  readonly registry: RunRegistry;
  readonly keeper: LeaseKeeper;
  readonly checkpointer: Checkpointer;
  ready(): Promise<void>;
  close(): Promise<void>;
}

interface StoreContext {
  readonly clock: Clock;
  readonly lease: Lease;
  readonly observer: ServiceObserver;
}

export function openStores(store: ServiceStore, context: StoreContext): Promise<Stores> {
  return store.kind === "memory" ? openMemory(store, context) : openPostgresStores(store, context);
}

/** A heartbeat that goes astray, and one after it, cost nothing. */
const heartbeatMs = ({ leaseMs }: Lease) => Math.floor(leaseMs / 4);

async function openMemory(
  { shared }: Extract<ServiceStore, { kind: "memory" }>,
  { clock, lease, observer }: StoreContext,
): Promise<Stores> {
  const database = shared?.database ?? createMemoryDatabase(clock);
  const registry = createMemoryRunRegistry(database);
  const keeper = createClockLeaseKeeper({ ...lease, registry, clock, everyMs: heartbeatMs(lease) });
  const log = createThreadLog({
    store: createMemoryLogStore(database),
    clock,
    fold: threadFoldPort,
    onError: (error) => observer.failed("A snapshot could not be made.", error),
  });
  return {
    log,
    registry,
    keeper,
    checkpointer: shared?.checkpointer ?? createMemoryCheckpointer(),
    async ready() {},
    async close() {
      await Promise.all([keeper.close(), log.close()]);
    },
  };
}

async function openPostgresStores(
  { databaseUrl, redisUrl }: Extract<ServiceStore, { kind: "postgres" }>,
  { clock, lease, observer }: StoreContext,
): Promise<Stores> {
  const checkpointer = createPostgresCheckpointer({ connectionString: databaseUrl });
  const database = await openPostgres({ connection: databaseUrl, clock });
  await checkpointer.setup();
  await settleLogHome(database, redisUrl === undefined ? "postgres" : "redis");
  const redis = redisUrl === undefined ? undefined : await openRedisLogStore({ url: redisUrl, database });
  const registry = createPostgresRunRegistry(database);
  const keeper = createPostgresLeaseKeeper({
    database,
    leaseMs: lease.leaseMs,
    everyMs: heartbeatMs(lease),
  });
  const log = createThreadLog({
    store: redis ?? createPostgresLogStore(database),
    clock,
    fold: threadFoldPort,
    onError: (error) => observer.failed("A snapshot could not be made.", error),
  });
  return {
    log,
    registry,
    keeper,
    checkpointer,
    async ready() {
      await database.pool.query("select 1");
    },
    async close() {
      await Promise.all([keeper.close(), log.close()]);
      redis?.close();
      await Promise.all([database.close(), checkpointer.close()]);
    },
  };
}
