import { randomUUID } from "node:crypto";
import {
  type AgentCatalogPort,
  type Clock,
  type GraphExecutorPort,
  type GraphStatePort,
  systemClock,
  type UsagePort,
} from "@throughline/ai-core";
import {
  createAggregatingAgentCatalog,
  createAggregatingGraphExecutor,
  createInProcProvider,
  type GraphProvider,
  type GraphSource,
} from "@throughline/graph-executor";
import { OFFLINE_MODEL_NAME } from "@throughline/langgraph-graphs";
import type { RunRegistry, ThreadLog } from "@throughline/thread-log";
import { createRunService, type DrivingRunService } from "./drive/create-run-service.js";
import { type ServiceObserver, silentObserver } from "./drive/service-observer.js";
import { noUsage } from "./drive/usage-facts.js";
import { createThreadHub } from "./hub/create-thread-hub.js";
import type { ThreadHub } from "./hub/thread-hub.js";
import { openStores, type ServiceStore } from "./open-stores.js";

export type { ServiceStore } from "./open-stores.js";

export interface ServiceOptions {
  readonly store: ServiceStore;
  /** Graphs of this process, or a provider that runs them elsewhere. */
  readonly graphs: GraphSource | GraphProvider;
  /** Of a run that names none. */
  readonly defaultModel?: string;
  readonly clock?: Clock;
  readonly usage?: UsagePort;
  readonly observer?: Partial<ServiceObserver>;
  /** How long a run stays ours unheard of. Default 15 s. */
  readonly leaseMs?: number;
  /** How often abandoned and waiting runs are looked for, give or take a quarter. Default 5 s. */
  readonly reapEveryMs?: number;
  /** How many times a run is taken up before it is lost. Default 5. */
  readonly maxAttempts?: number;
  /** Names this instance among others. Random by default. */
  readonly instance?: string;
}

export interface Service {
  readonly runs: DrivingRunService;
  readonly hub: ThreadHub;
  readonly agents: AgentCatalogPort;
  readonly executor: GraphExecutorPort;
  /** For listings, deletion and the like. Only drivers append. */
  readonly log: ThreadLog;
  readonly registry: RunRegistry;
  readonly state: GraphStatePort;
  /** Rejects with what is wrong when the stores do not answer. */
  ready(): Promise<void>;
  /** Drains (default 10 s), hands over, ends every watch, closes what it opened. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/** An instance: everything that runs graphs, keeps their logs and feeds who watches, without a word of HTTP. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { clock = systemClock, leaseMs = 15_000 } = options;
  const observer: ServiceObserver = { ...silentObserver, ...options.observer };
  const lease = { owner: options.instance ?? randomUUID(), leaseMs };
  const stores = await openStores(options.store, { clock, lease, observer });
  const { log, registry, keeper } = stores;
  const provider = isProvider(options.graphs)
    ? options.graphs
    : createInProcProvider({
        graphs: options.graphs,
        checkpointer: stores.checkpointer.saver,
        lease: registry,
      });
  const executor = createAggregatingGraphExecutor([provider]);
  const agents = createAggregatingAgentCatalog([provider]);
  const runs = createRunService({
    log,
    registry,
    keeper,
    executor,
    state: executor,
    agents,
    usage: options.usage ?? noUsage,
    clock,
    observer,
    lease,
    maxAttempts: options.maxAttempts ?? 5,
    defaultModel: options.defaultModel ?? OFFLINE_MODEL_NAME,
    reapEveryMs: options.reapEveryMs ?? 5_000,
    random: Math.random,
  });
  const hub = createThreadHub({
    log,
    registry,
    state: executor,
    executorType: executor.executorType,
    clock,
    observer,
    settle: runs.settle,
  });
  return {
    runs,
    hub,
    agents,
    executor,
    log,
    registry,
    state: executor,
    ready: stores.ready,
    async close({ drainMs = 10_000 } = {}) {
      await runs.close({ drainMs });
      await hub.close();
      await stores.close();
    },
  };
}

function isProvider(graphs: GraphSource | GraphProvider): graphs is GraphProvider {
  return "runGraph" in graphs;
}
