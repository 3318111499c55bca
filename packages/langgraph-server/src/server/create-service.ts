import { randomUUID } from "node:crypto";
import {
  type AgentCatalogPort,
  type Clock,
  type GraphExecutorPort,
  type GraphStatePort,
  systemClock,
  ThroughlineError,
  type UsagePort,
} from "@throughline/ai-core";
import {
  createAggregatingAgentCatalog,
  createAggregatingGraphExecutor,
  createInProcProvider,
  createStoreItems,
  type GraphProvider,
  type GraphSource,
  type StoreItems,
} from "@throughline/graph-executor";
import type { RunRegistry, ThreadDirectory, ThreadLog } from "@throughline/thread-log";
import { type AuditLog, type AuditOptions, createAuditLog } from "../accounts/audit-log.js";
import {
  type BillingOptions,
  type OpenedBilling,
  openBilling,
  openOfflineBilling,
  startReconciler,
} from "../accounts/billing.js";
import { createDeletionService, type DeletionService } from "../accounts/deletion-service.js";
import { createExportService, type ExportService } from "../accounts/export-account.js";
import {
  type AccountLimiter,
  type AccountLimits,
  createAccountLimiter,
  DEFAULT_LIMITS,
} from "../accounts/limits.js";
import { createFileLinks } from "../attachments/file-links.js";
import { DEFAULT_UNNAMED_MS, startAttachmentSweeper } from "../attachments/file-sweep.js";
import type { AttachmentGate } from "../attachments/input-attachments.js";
import { type AttachmentLimits, DEFAULT_ATTACHMENT_LIMITS } from "../attachments/media-types.js";
import type { MediaOrigins } from "../attachments/media-urls.js";
import { createFileKeeper } from "../attachments/receive-file.js";
import { createRunFiles, withRunAttachments } from "../attachments/run-attachments.js";
import { createTransferPermits, type TransferLimits } from "../attachments/transfer-permits.js";
import { type CronService, createCronService, DEFAULT_MAX_CRONS } from "../crons/cron-service.js";
import { startClockGuard } from "../operations/clock-guard.js";
import { type ServiceObserver, silentObserver } from "../operations/observer.js";
import { DEFAULT_RETENTION, type Retention, startRetentionSweeper } from "../operations/upkeep.js";
import { DEFAULT_MAX_DRIVEN } from "../runs/driver-capacity.js";
import { followExternalRuns } from "../runs/external-runs.js";
import { noUsage } from "../runs/run-attempt.js";
import { createRunService, type DrivingRunService } from "../runs/run-service.js";
import { requireAccepted } from "../runs/start-run.js";
import { createThreadService, type ThreadService } from "../runs/thread-service.js";
import { INSTANCE_ROLES, type InstanceRole } from "../settings/instance-role.js";
import { readThreadProjection } from "../streams/read-thread-projection.js";
import { createProjectionRebuilder, rebuildForLog } from "../streams/rebuild-projection.js";
import type { ThreadStreams } from "../streams/stream-types.js";
import { createLiveThreads } from "../streams/thread-followers.js";
import { createThreadStreams } from "../streams/thread-streams.js";
import type { FeedbackStore } from "../threads/feedback-store.js";
import { startMessageBackfill } from "../threads/message-backfill.js";
import { createMessageIndexer } from "../threads/message-index.js";
import { createWaitingInterrupts, type WaitingInterrupts } from "../threads/waiting-interrupts.js";
import { openStores, type ServiceStore } from "./open-stores.js";

export type { ServiceStore } from "./open-stores.js";

export interface Service {
  readonly runs: DrivingRunService;
  readonly hub: ThreadStreams;
  readonly agents: AgentCatalogPort;
  readonly executor: GraphExecutorPort;
  /** The log, for listings, deletion and the like. Only drivers append. */
  readonly log: ThreadLog;
  readonly registry: RunRegistry;
  readonly state: GraphStatePort;
  readonly crons: CronService;
  readonly threads: ThreadService;
  readonly feedback: FeedbackStore;
  /** Open interrupts that wait for people, over all agents. */
  readonly waiting: WaitingInterrupts;
  readonly deletions: DeletionService;
  readonly exports: ExportService;
  readonly billing: OpenedBilling;
  readonly directory: ThreadDirectory;
  readonly attachments: AttachmentGate;
  /** The audit log per account. */
  readonly audit: AuditLog;
  /** Store items of graphs across threads; `undefined` where graphs run elsewhere and tenants can't be distinguished. */
  readonly storeItems: StoreItems | undefined;
  /** The use of accounts: runs and requests are counted together. */
  readonly usage: AccountLimiter;
  /** Rejects with the reason when the stores do not respond. */
  ready(): Promise<void>;
  /** Drains (default 10 s), hands runs over, ends every subscription, closes what it opened. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/** How long a request to delete a thread waits for the deletion's end. */
const DELETION_PATIENCE_MS = 5_000;

/** Creates an instance without HTTP: everything that runs graphs, stores their logs and feeds subscribers. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { clock = systemClock, leaseMs = 15_000 } = options;
  const observer: ServiceObserver = { ...silentObserver, ...options.observer };
  const roles: readonly InstanceRole[] = options.roles ?? INSTANCE_ROLES;
  const closed = new AbortController();
  const lease = { owner: options.instance ?? randomUUID(), leaseMs };
  const limitsOf = options.limitsOf ?? (() => DEFAULT_LIMITS);
  const retention = options.retention ?? DEFAULT_RETENTION;
  const stores = await openStores(options.store, {
    clock,
    lease,
    observer,
    retention,
    rebuild: (thread) => rebuildForLog({ rebuilder, directory, registry }, thread),
    cronNow: options.crons?.now,
  });
  const { log, registry, keeper, directory } = stores;
  const clockGuard =
    stores.now &&
    startClockGuard({
      storeNow: stores.now,
      everyMs: leaseMs / 4,
      clock,
      random: Math.random,
      onDrift: (errorMs) =>
        observer.noticed(
          `This instance's clock is ${Math.abs(Math.round(errorMs / 1_000))} s ${errorMs > 0 ? "ahead of" : "behind"} the database's. No graph runs here until it is set right.`,
        ),
      onFailed: (error) => observer.failed("The database's clock could not be read.", error),
      onCompared: observer.clockCompared,
    });
  const isClockRight = () => clockGuard?.isInSync() ?? true;
  const usage = createAccountLimiter({ clock, shared: stores.counts });
  const billingContext = {
    stores: stores.billing,
    registry,
    send: options.send ?? globalThis.fetch,
    defaultModel: options.defaultModel,
    usage: options.usage ?? noUsage,
    clock,
    observer,
  };
  const billing = options.billing
    ? openBilling(options.billing, billingContext)
    : openOfflineBilling(billingContext);
  const files = { store: stores.attachments, limits: options.attachmentLimits ?? DEFAULT_ATTACHMENT_LIMITS };
  const attachments: AttachmentGate = {
    ...files,
    keeper: createFileKeeper({ ...files, clock, signal: closed.signal }),
    transfers: createTransferPermits(options.transferLimits),
    mediaOrigins: options.mediaOrigins ?? [],
    links: createFileLinks({
      clock,
      ...(options.linkSecret !== undefined && { secret: options.linkSecret }),
    }),
  };
  // A graph that reads a file waits for the store like one that reads its checkpoint.
  const runFiles = createRunFiles({ ...attachments, clock, signal: closed.signal });
  const provider = isProvider(options.graphs)
    ? options.graphs
    : createInProcProvider({
        graphs: options.graphs,
        checkpointer: stores.checkpointer.saver,
        lease: registry,
        store: stores.graphStore.store,
        attachments: runFiles,
        ...(billing.callbacks && { callbacks: [billing.callbacks] }),
        isClockRight,
        clock,
      });
  const executor = withRunAttachments(createAggregatingGraphExecutor([provider]), runFiles);
  const agents = createAggregatingAgentCatalog([provider]);
  const rebuilder = createProjectionRebuilder({ log, state: executor, registry, agents });
  const views = createLiveThreads({ log, rebuilder, clock, observer, lingerMs: options.lingerMs });
  const messageIndexer = createMessageIndexer({
    index: stores.messages,
    onError: (error) => observer.failed("What a run said can't be searched for.", error),
  });
  const runs = createRunService({
    log,
    views,
    registry,
    directory,
    keeper,
    executor,
    state: executor,
    foreignRuns: provider.foreignRuns,
    agents,
    fileKeeper: attachments.keeper,
    usage: options.usage ?? noUsage,
    billing,
    said: messageIndexer,
    clock,
    observer,
    lease,
    boundsOf: limitsOf,
    drives: roles.includes("worker"),
    isClockRight,
    admission: { usage, limitsOf },
    attachments,
    maxCrashes: options.maxCrashes ?? 5,
    showGraphErrors: options.showGraphErrors ?? false,
    maxDriven: options.maxDriven ?? DEFAULT_MAX_DRIVEN,
    reapEveryMs: options.reapEveryMs ?? 5_000,
    random: Math.random,
  });
  const storeItems = isProvider(options.graphs) ? undefined : createStoreItems(stores.graphStore);
  const audit = createAuditLog({
    ...options.audit,
    store: stores.audit,
    clock,
    random: Math.random,
    observer,
  });
  const deletions = createDeletionService({
    store: stores.deletions,
    audit,
    log,
    registry,
    state: executor,
    directory,
    attachments: stores.attachments,
    crons: stores.crons,
    feedback: stores.feedback,
    messages: stores.messages,
    billing: stores.billing,
    storeItems,
    clock,
    leaseMs,
    everyMs: 5_000,
    random: Math.random,
    observer,
    admit: (account) => usage.delete(account, limitsOf(account)),
  });
  const exports = createExportService({
    usage,
    rows: stores.accountRows,
    ledger: stores.billing.ledger,
    log,
    state: executor,
    attachments: stores.attachments,
    storeItems,
    clock,
  });
  const threads = createThreadService({
    registry,
    log,
    state: executor,
    runs,
    directory,
    messages: stores.messages,
    feedback: stores.feedback,
    said: messageIndexer,
    attachments,
    agents,
    clock,
    lease,
    async removeThread(thread) {
      const { account, subject = account } = thread.ref;
      await deletions.untilDeleted(await deletions.deleteThread(thread, subject), DELETION_PATIENCE_MS);
    },
  });
  const waiting = createWaitingInterrupts({
    directory,
    readProjection: async (thread) => (await readThreadProjection({ log, rebuilder }, thread)).fold,
    clock,
  });
  const attendant =
    provider.foreignRuns &&
    followExternalRuns({
      foreignRuns: provider.foreignRuns,
      adopt: runs.adopt,
      reconcile: runs.reconcile,
      observer,
    });
  const hub = createThreadStreams({
    views,
    log,
    registry,
    executorType: executor.executorType,
    links: attachments.links,
    clock,
    observer,
    reconcile: attendant?.reconcile ?? runs.reconcile,
    attend: attendant?.attend,
  });
  const crons = createCronService({
    store: stores.crons,
    registry,
    agents,
    start: async (request) => requireAccepted(await runs.start(request)),
    clock,
    observer,
    random: Math.random,
    delivers: roles.includes("cron"),
    everyMs: options.crons?.everyMs ?? 5_000,
    maxCrons: options.crons?.maxCrons ?? DEFAULT_MAX_CRONS,
  });
  const sweeper = startRetentionSweeper({
    log,
    registry,
    store: stores.retention,
    receipts: stores.deletions,
    retention,
    clock,
    random: Math.random,
    observer,
  });
  const fileSweeper = startAttachmentSweeper({
    store: stores.attachments,
    unnamedMs: options.unnamedMs ?? DEFAULT_UNNAMED_MS,
    clock,
    random: Math.random,
    observer,
  });
  const messageBackfill =
    stores.messageBackfill &&
    startMessageBackfill({
      store: stores.messageBackfill,
      state: executor,
      index: stores.messages,
      clock,
      random: Math.random,
      observer,
    });
  const reconcileEveryMs = options.billing?.reconcileEveryMs;
  const reconciler =
    reconcileEveryMs === undefined
      ? undefined
      : startReconciler({
          billing,
          facts: billing.facts,
          everyMs: reconcileEveryMs,
          clock,
          random: Math.random,
          observer,
        });
  return {
    runs,
    hub,
    agents,
    executor,
    log,
    registry,
    state: executor,
    crons,
    threads,
    feedback: stores.feedback,
    waiting,
    directory,
    attachments,
    audit,
    storeItems,
    deletions,
    usage,
    exports,
    billing,
    async ready() {
      if (!isClockRight()) throw new ThroughlineError("internal", "This instance's clock is wrong.");
      await stores.ready();
    },
    async close({ drainMs = 10_000 } = {}) {
      attendant?.close();
      await crons.close();
      await Promise.all([
        clockGuard?.close(),
        sweeper.close(),
        fileSweeper.close(),
        messageBackfill?.close(),
        reconciler?.close(),
      ]);
      await deletions.close();
      exports.close();
      await runs.close({ drainMs });
      await messageIndexer.close();
      closed.abort();
      await hub.close();
      views.close();
      await audit.close();
      await stores.close();
    },
  };
}

function isProvider(graphs: GraphSource | GraphProvider): graphs is GraphProvider {
  return "runGraph" in graphs;
}

export interface ServiceOptions {
  readonly store: ServiceStore;
  /** The graphs of this process, or a provider that runs them elsewhere. */
  readonly graphs: GraphSource | GraphProvider;
  /** The model of a run that names none. Default: with LiteLLM the first that the account may use, else the offline model. */
  readonly defaultModel?: string;
  /** Model calls go through a LiteLLM and are metered. Default: the offline model, and nothing is metered. */
  readonly billing?: BillingOptions;
  /** Sends requests to LiteLLM; `fetch` as it is now by default. */
  readonly send?: typeof fetch;
  readonly clock?: Clock;
  readonly usage?: UsagePort;
  readonly observer?: Partial<ServiceObserver>;
  /** How long a run stays leased without a heartbeat. Default 15 s. */
  readonly leaseMs?: number;
  /** How often abandoned and queued runs are claimed, give or take a quarter. Default 5 s. */
  readonly reapEveryMs?: number;
  /** Crash recoveries before a run fails as `run_lost`. Default 5. */
  readonly maxCrashes?: number;
  /** Whether people see a graph's own errors, which may carry a key, a prompt or a path. Default `false`. */
  readonly showGraphErrors?: boolean;
  /** Runs this instance drives at once. Past that it refuses starts, and recovers no abandoned runs. Default 200. */
  readonly maxDriven?: number;
  /** How long a thread's view is cached in memory after its last use. Default 30 s. */
  readonly lingerMs?: number;
  /** The roles of this instance, where other instances have the rest. All by default. */
  readonly roles?: readonly InstanceRole[];
  /** Names this instance among others. Random by default. */
  readonly instance?: string;
  /** R20: how much of each thread is retained, and how long ended runs are known. Generous by default. */
  readonly retention?: Retention;
  /** The limits of accounts. Default: `DEFAULT_LIMITS`. */
  readonly limitsOf?: (account: string) => AccountLimits;
  readonly crons?: CronOptions;
  readonly attachmentLimits?: AttachmentLimits;
  readonly audit?: AuditOptions;
  /** Limits of concurrent uploads and downloads. */
  readonly transferLimits?: TransferLimits;
  /** How long a file may wait for a message that names it before it is deleted. Default one day. */
  readonly unnamedMs?: number;
  /** Allowed origins of media that messages name by URL; `*` for every public https origin. None by default. */
  readonly mediaOrigins?: MediaOrigins;
  /** The secret that signs links to files; the same on every instance. Default: a secret of this instance's own. */
  readonly linkSecret?: string;
}

export interface CronOptions {
  /** How long another instance's changes may go unnoticed, give or take a quarter. Default 5 s. */
  readonly everyMs?: number;
  /** Per account. Default 100. */
  readonly maxCrons?: number;
  /** The time for crons. Default: the store's own clock (R18). */
  readonly now?: () => number;
}
