import { type Clock, ThroughlineError } from "@throughline/ai-core";
import {
  type Checkpointer,
  createMemoryCheckpointer,
  createMemoryGraphStore,
  createPostgresCheckpointer,
  createPostgresGraphStore,
  type GraphStore,
} from "@throughline/graph-executor";
import { threadFoldPort } from "@throughline/stream-adapter";
import type { ThreadDirectory } from "@throughline/thread-log";
import {
  createClockLeaseKeeper,
  createMemoryDatabase,
  createMemoryLogStore,
  createMemoryRunRegistry,
  createMemoryThreadDirectory,
  createPool,
  createPostgresLeaseKeeper,
  createPostgresLogStore,
  createPostgresRunRegistry,
  createPostgresThreadDirectory,
  createThreadLog,
  type Lease,
  type LeaseKeeper,
  type MemoryDatabase,
  migrate,
  openPostgres,
  openRedisLogStore,
  type RetentionPolicy,
  type RunRegistry,
  settleLogHome,
  type ThreadLog,
} from "@throughline/thread-log";
import { openAttachmentFolder } from "../attachments/attachment-folder.js";
import type { AttachmentStore } from "../attachments/attachment-store.js";
import { createMemoryAttachmentStore } from "../attachments/memory-attachment-store.js";
import { createPostgresAttachmentStore } from "../attachments/postgres-attachment-store.js";
import type { CronStore } from "../crons/cron-store.js";
import { createMemoryCronStore } from "../crons/memory-cron-store.js";
import { createPostgresCronStore } from "../crons/postgres-cron-store.js";
import { SERVER_MIGRATIONS, SERVER_MIGRATIONS_RECORD } from "../database/server-migrations.js";
import type { DeletionStore } from "../deletion/deletion-store.js";
import { createMemoryDeletionStore } from "../deletion/memory-deletion-store.js";
import { createPostgresDeletionStore } from "../deletion/postgres-deletion-store.js";
import type { ServiceObserver } from "../thread/service-observer.js";

export type ServiceStore =
  /** Everything is gone with the process. Services that share both parts are several instances of one. */
  | { readonly kind: "memory"; readonly shared?: SharedMemory }
  /** Log, registry and checkpoints in one PostgreSQL; with `redisUrl` the live log is in Redis (R22). */
  | {
      readonly kind: "postgres";
      readonly databaseUrl: string;
      readonly redisUrl?: string;
      /** A folder for the contents of attachments; in the database where absent. */
      readonly attachmentsDir?: string;
    };

export interface SharedMemory {
  readonly database: MemoryDatabase;
  readonly checkpointer: Checkpointer;
}

export interface Stores {
  readonly log: ThreadLog;
  readonly registry: RunRegistry;
  readonly keeper: LeaseKeeper;
  readonly checkpointer: Checkpointer;
  readonly crons: CronStore;
  readonly directory: ThreadDirectory;
  readonly attachments: AttachmentStore;
  readonly graphStore: GraphStore;
  readonly deletions: DeletionStore;
  ready(): Promise<void>;
  close(): Promise<void>;
}

interface StoreContext {
  readonly clock: Clock;
  readonly lease: Lease;
  readonly observer: ServiceObserver;
  readonly retention: RetentionPolicy;
  /** What time it is for crons, instead of the store's own clock. */
  readonly cronNow?: (() => number) | undefined;
}

export function openStores(store: ServiceStore, context: StoreContext): Promise<Stores> {
  return store.kind === "memory" ? openMemory(store, context) : openPostgresStores(store, context);
}

/** A heartbeat that goes astray, and one after it, cost nothing. */
const heartbeatMs = ({ leaseMs }: Lease) => Math.floor(leaseMs / 4);

const FILE_CONNECTIONS = 2;
const FILE_STATEMENT_MS = 30_000;

async function openMemory(
  { shared }: Extract<ServiceStore, { kind: "memory" }>,
  { clock, lease, observer, retention, cronNow }: StoreContext,
): Promise<Stores> {
  const database = shared?.database ?? createMemoryDatabase(clock);
  const deletions = createMemoryDeletionStore(database);
  const registry = createMemoryRunRegistry(database);
  const keeper = createClockLeaseKeeper({ ...lease, registry, clock, everyMs: heartbeatMs(lease) });
  const log = createThreadLog({
    store: createMemoryLogStore(database),
    clock,
    fold: threadFoldPort,
    retention,
    onError: (error) => observer.failed("A thread could not be snapshotted or trimmed.", error),
  });
  return {
    log,
    registry,
    keeper,
    checkpointer: shared?.checkpointer ?? createMemoryCheckpointer(),
    crons: createMemoryCronStore(database, cronNow),
    directory: createMemoryThreadDirectory(database),
    attachments: createMemoryAttachmentStore(database),
    graphStore: createMemoryGraphStore(),
    deletions,
    async ready() {},
    async close() {
      await Promise.all([keeper.close(), log.close()]);
    },
  };
}

async function openPostgresStores(
  { databaseUrl, redisUrl, attachmentsDir }: Extract<ServiceStore, { kind: "postgres" }>,
  { clock, lease, observer, retention, cronNow }: StoreContext,
): Promise<Stores> {
  const checkpointer = createPostgresCheckpointer({ connectionString: databaseUrl });
  const graphStore = createPostgresGraphStore({ connectionString: databaseUrl });
  const database = await openPostgres({
    connection: databaseUrl,
    clock,
    onError: (error) => observer.failed("A background task of the database failed.", error),
  });
  // Files have connections of their own: a run that starts must not wait behind chunks.
  const files = createPool({
    connection: database.connection,
    max: FILE_CONNECTIONS,
    applicationName: "throughline files",
    statementMs: FILE_STATEMENT_MS,
  });
  await checkpointer.setup();
  await graphStore.setup();
  await migrate(database.pool, database.schema, {
    record: SERVER_MIGRATIONS_RECORD,
    migrations: SERVER_MIGRATIONS,
  });
  await settleLogHome(database, redisUrl === undefined ? "postgres" : "redis");
  const redis = redisUrl === undefined ? undefined : await openRedisLogStore({ url: redisUrl, database });
  const deletions = createPostgresDeletionStore(database);
  const registry = createPostgresRunRegistry(database, {
    onBadRow: observer.badRow,
    ...(redis && { logElsewhere: redis }),
  });
  const keeper = createPostgresLeaseKeeper({
    database,
    leaseMs: lease.leaseMs,
    everyMs: heartbeatMs(lease),
  });
  const log = createThreadLog({
    store: redis ?? createPostgresLogStore(database),
    clock,
    fold: threadFoldPort,
    retention,
    onError: (error) => observer.failed("A thread could not be snapshotted or trimmed.", error),
  });
  return {
    log,
    registry,
    keeper,
    checkpointer,
    crons: createPostgresCronStore(database, cronNow && (async () => cronNow())),
    directory: createPostgresThreadDirectory(database),
    attachments: createPostgresAttachmentStore(
      { pool: files.pool, schema: database.schema },
      attachmentsDir === undefined ? undefined : openAttachmentFolder(attachmentsDir),
    ),
    graphStore,
    deletions,
    async ready() {
      const { ok, reason } = keeper.healthy();
      if (!ok) throw new ThroughlineError("internal", `Leases are not renewed: ${reason ?? "unknown"}.`);
      await Promise.all([database.pool.query("select 1"), redis?.ping()]);
    },
    async close() {
      await Promise.all([keeper.close(), log.close()]);
      redis?.close();
      await Promise.all([files.close(), database.close(), checkpointer.close(), graphStore.close()]);
    },
  };
}
