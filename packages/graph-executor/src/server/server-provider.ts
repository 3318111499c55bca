import { type Clock, GRAPH_PROVIDER_ID, systemClock } from "@throughline/ai-core";
import type { GraphNotes } from "../graphs/describe-graph.js";
import type { GraphProvider } from "../provider/graph-provider.js";
import { createForeignRuns } from "../watcher/foreign-runs.js";
import type { WatchPace } from "../watcher/watch-plan.js";
import type { Patience } from "./follow-run.js";
import { createServerCatalog } from "./server-catalog.js";
import { createServerClient, type ServerAddress } from "./server-client.js";
import { createServerExecutor } from "./server-executor.js";
import { createServerState } from "./server-state.js";

export interface ServerProviderOptions extends ServerAddress {
  readonly clock?: Clock;
  readonly patience?: Partial<Patience>;
  /** How long the server may be out of reach before a request is refused. */
  readonly connectMs?: number;
  /** R24: how long a thread that says it is busy is asked again. */
  readonly busyMs?: number;
  /** What the operator declares of the server's graphs: commands, names, suggestions. A server tells only names and schemas. */
  readonly declared?: readonly GraphNotes[];
  /** Receives what an operator should know of the server's graphs. Default: a warning of the process. */
  readonly warn?: ((message: string) => void) | undefined;
  /**
   * Delete runs that a restart left as running for ever. Right for a server of one process, where a restart ends every
   * run; wrong where another process may still be running it.
   */
  readonly freesDeadRuns?: boolean;
  /** How often threads are looked at for what others run there. */
  readonly watchPace?: WatchPace;
  /** Whether a run that carries one of our run ids is ours; by default every such run is. */
  readonly isOurs?: (runId: string) => boolean;
}

export const DEFAULT_PATIENCE: Patience = {
  idleMs: 15_000,
  probeMs: 2_000,
  lostAfterMs: 30_000,
  cancelMs: 10_000,
};

/** Graphs of a LangGraph server, over the official SDK. */
function createServerProvider(options: ServerProviderOptions): GraphProvider {
  const shared = {
    client: createServerClient(options),
    clock: options.clock ?? systemClock,
    connectMs: options.connectMs ?? 5_000,
    busyMs: options.busyMs ?? 1_000,
  };
  const patience = { ...DEFAULT_PATIENCE, ...options.patience };
  const states = createServerState({ ...shared, cancelMs: patience.cancelMs });
  const freesDeadRuns = options.freesDeadRuns ?? false;
  return {
    providerId: GRAPH_PROVIDER_ID,
    ...createServerExecutor({ ...shared, patience, freesDeadRuns }, states),
    ...states,
    foreignRuns: createForeignRuns({
      ...shared,
      patience,
      freesDeadRuns,
      ...(options.watchPace && { pace: options.watchPace }),
      ...(options.isOurs && { isOurs: options.isOurs }),
    }),
    ...createServerCatalog({
      ...shared,
      patient: createServerClient({ ...options, requestTimeoutMs: 60_000 }),
      declared: options.declared ?? [],
      warn: options.warn,
    }),
  };
}

/** `LANGGRAPH_DEV_URL`: a `langgraph dev` server. One process, so what it was running when it died is dead. */
export function createLangGraphDevProvider(options: ServerProviderOptions): GraphProvider {
  return createServerProvider({ freesDeadRuns: true, ...options });
}

/** `LANGGRAPH_SERVER_URL`: a LangGraph server in a container, or a hosted one. It looks after its runs itself. */
export function createLangGraphServerAdapter(options: ServerProviderOptions): GraphProvider {
  return createServerProvider({ freesDeadRuns: false, ...options });
}
