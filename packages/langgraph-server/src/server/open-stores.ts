import { type Clock, ThroughlineError } from "@throughline/ai-core";
import {
  type Checkpointer,
  createMemoryCheckpointer,
  createMemoryGraphStore,
  createPostgresCheckpointer,
  createPostgresGraphStore,
  type GraphStore,
} from "@throughline/graph-executor";
import { type ThreadProjection, threadProjectionCodec } from "@throughline/reading";
import { compactEntries } from "@throughline/stream-adapter";
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
  type LogStore,
  leaveRedisHome,
  type MemoryDatabase,
  migrate,
  openPostgres,
  openRedisBus,
  type Rebuilt,
  type RunRegistry,
  type ThreadDirectory,
  type ThreadLog,
  type ThreadLogOptions,
  type ThreadRef,
} from "@throughline/thread-log";
import { type AuditStore, createPostgresAuditStore } from "../accounts/audit-store.js";
import { type BillingStores, memoryBillingStores, postgresBillingStores } from "../accounts/billing.js";
import type { DeletionStore } from "../accounts/deletion.js";
import { createPostgresDeletionStore } from "../accounts/deletion-store.js";
import { type AccountRows, createPostgresAccountRows } from "../accounts/export-rows.js";
import type { SharedCounters } from "../accounts/limits.js";
import { createRedisCounts } from "../accounts/redis-limits.js";
import type { AttachmentStore } from "../attachments/attachment-store.js";
import { openAttachmentFolder } from "../attachments/blobs.js";
import { createPostgresAttachmentStore } from "../attachments/postgres-attachment-store.js";
import type { CronStore } from "../crons/cron-store.js";
import { createPostgresCronStore } from "../crons/postgres-cron-store.js";
import type { ServiceObserver } from "../operations/observer.js";
import { createPostgresRetentionStore, type RetentionStore } from "../operations/retention-store.js";
import type { Retention } from "../operations/upkeep.js";
import { createPostgresFeedbackStore, type FeedbackStore } from "../threads/feedback-store.js";
import { createMessageBackfillStore, type MessageBackfillStore } from "../threads/message-backfill.js";
import { createPostgresMessageIndex, type MessageIndex } from "../threads/message-index.js";
import { createMemoryAttachmentStore } from "./memory/memory-attachments.js";
import { createMemoryCronStore, createMemoryRetentionStore } from "./memory/memory-crons.js";
import { createMemoryDeletionStore } from "./memory/memory-deletions.js";
import {
  createMemoryAccountRows,
  createMemoryAuditStore,
  createMemoryFeedbackStore,
  createMemoryMessageIndex,
} from "./memory/memory-stores.js";
import { SERVICE_MIGRATIONS } from "./migrations.js";

export type ServiceStore =
  /** All data is lost with the process. Services that share both parts are several instances of one. */
  | { readonly kind: "memory"; readonly shared?: SharedMemory }
  /** Log, registry and checkpoints in one PostgreSQL; `redisUrl` names a bus between instances (R22). */
  | {
      readonly kind: "postgres";
      readonly databaseUrl: string;
      /** The server itself, where `databaseUrl` leads to a pooler in transaction mode. */
      readonly databaseDirectUrl?: string | undefined;
      readonly redisUrl?: string;
      /** A folder for the contents of attachments. Default: the database. */
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
  /** Counters of the accounts' use on all instances; `undefined` where no bus connects them. */
  readonly counts: SharedCounters | undefined;
  readonly audit: AuditStore;
  readonly feedback: FeedbackStore;
  readonly messages: MessageIndex;
  /** The backfill of the message index; `undefined` where no thread is older than the index. */
  readonly messageBackfill: MessageBackfillStore | undefined;
  readonly retention: RetentionStore;
  readonly accountRows: AccountRows;
  readonly billing: BillingStores;
  /** Reads the store's own clock; `undefined` where that is this process's. */
  readonly now: (() => Promise<number>) | undefined;
  ready(): Promise<void>;
  close(): Promise<void>;
}

interface StoreContext {
  readonly clock: Clock;
  readonly lease: Lease;
  readonly observer: ServiceObserver;
  readonly retention: Retention;
  /** Describes a thread whose log has no description of it. Called only after the first append. */
  readonly rebuild: (thread: ThreadRef) => Promise<Rebuilt<ThreadProjection> | undefined>;
  /** The time for crons, in place of the store's own clock. */
  readonly cronNow?: (() => number) | undefined;
}

export function openStores(store: ServiceStore, context: StoreContext): Promise<Stores> {
  return store.kind === "memory" ? openMemory(store, context) : openPostgresStores(store, context);
}

function compactionOf({ compactAfterMs }: Retention): Pick<ThreadLogOptions<unknown>, "compaction"> {
  return compactAfterMs === undefined
    ? {}
    : { compaction: { afterMs: compactAfterMs, merge: compactEntries } };
}

/** The interval of heartbeats: two lost ones in a row do not cost the lease. */
const heartbeatMs = ({ leaseMs }: Lease) => Math.floor(leaseMs / 4);

const FILE_CONNECTIONS = 2;
const FILE_STATEMENT_MS = 30_000;

function openLog(store: LogStore, { clock, observer, retention, rebuild }: StoreContext): ThreadLog {
  return createThreadLog({
    store,
    clock,
    fold: threadProjectionCodec,
    rebuild,
    retention,
    ...compactionOf(retention),
    onError: (error) => observer.failed("A thread could not be snapshotted or trimmed.", error),
  });
}

async function openMemory(
  { shared }: Extract<ServiceStore, { kind: "memory" }>,
  context: StoreContext,
): Promise<Stores> {
  const { clock, lease, cronNow } = context;
  const database = shared?.database ?? createMemoryDatabase(clock);
  const checkpointer = shared?.checkpointer ?? createMemoryCheckpointer();
  const deletions = createMemoryDeletionStore(database);
  const registry = createMemoryRunRegistry(database);
  const keeper = createClockLeaseKeeper({ ...lease, registry, clock, everyMs: heartbeatMs(lease) });
  const log = openLog(createMemoryLogStore(database), context);
  return {
    log,
    registry,
    keeper,
    checkpointer,
    crons: createMemoryCronStore(database, cronNow),
    directory: createMemoryThreadDirectory(database),
    attachments: createMemoryAttachmentStore(database),
    graphStore: createMemoryGraphStore(),
    deletions,
    counts: undefined,
    audit: createMemoryAuditStore(database),
    feedback: createMemoryFeedbackStore(database),
    messages: createMemoryMessageIndex(database),
    messageBackfill: undefined,
    retention: createMemoryRetentionStore(database, checkpointer),
    accountRows: createMemoryAccountRows(database),
    billing: memoryBillingStores(clock),
    now: undefined,
    async ready() {},
    async close() {
      await Promise.all([keeper.close(), log.close()]);
    },
  };
}

async function openPostgresStores(
  { databaseUrl, databaseDirectUrl, redisUrl, attachmentsDir }: Extract<ServiceStore, { kind: "postgres" }>,
  context: StoreContext,
): Promise<Stores> {
  const { clock, lease, observer, cronNow } = context;
  const address = { connectionString: databaseUrl, directConnectionString: databaseDirectUrl };
  const checkpointer = createPostgresCheckpointer(address);
  const graphStore = createPostgresGraphStore(address);
  const database = await openPostgres({
    connection: databaseUrl,
    direct: databaseDirectUrl,
    clock,
    onError: (error) => observer.failed("A background task of the database failed.", error),
  });
  // Files have their own connections: the start of a run must not wait behind chunks.
  const files = createPool({
    connection: { connectionString: databaseUrl },
    isPooled: databaseDirectUrl !== undefined,
    max: FILE_CONNECTIONS,
    applicationName: "throughline files",
    statementMs: FILE_STATEMENT_MS,
  });
  await checkpointer.setup();
  await graphStore.setup();
  for (const set of SERVICE_MIGRATIONS) await migrate(database.directPool, database.schema, set);
  if (await leaveRedisHome(database)) {
    observer.noticed(
      "The entries of this database were kept in Redis by an earlier version: threads are shown from their checkpoints.",
    );
  }
  const bus =
    redisUrl === undefined
      ? undefined
      : await openRedisBus({
          url: redisUrl,
          database,
          onState: observer.busChanged,
          onTraffic: observer.busMessage,
        });
  const counts = bus && createRedisCounts(bus, clock);
  const deletions = createPostgresDeletionStore(database);
  const registry = createPostgresRunRegistry(database, { onBadRow: observer.badRow });
  const keeper = createPostgresLeaseKeeper({
    database,
    leaseMs: lease.leaseMs,
    everyMs: heartbeatMs(lease),
  });
  const log = openLog(createPostgresLogStore(database, { bus }), context);
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
    counts,
    audit: createPostgresAuditStore(database),
    feedback: createPostgresFeedbackStore(database),
    messages: createPostgresMessageIndex(database),
    messageBackfill: createMessageBackfillStore(database),
    retention: createPostgresRetentionStore(database),
    accountRows: createPostgresAccountRows(database),
    billing: postgresBillingStores(database),
    async now() {
      const { rows } = await database.pool.query<{ now: number }>(
        "select (extract(epoch from clock_timestamp()) * 1000)::double precision as now",
      );
      return rows[0]?.now ?? 0;
    },
    async ready() {
      const { ok, reason } = keeper.healthy();
      if (!ok) throw new ThroughlineError("internal", `Leases are not renewed: ${reason ?? "unknown"}.`);
      await database.pool.query("select 1");
    },
    async close() {
      await Promise.all([keeper.close(), log.close()]);
      counts?.close();
      bus?.close();
      await Promise.all([files.close(), database.close(), checkpointer.close(), graphStore.close()]);
    },
  };
}
