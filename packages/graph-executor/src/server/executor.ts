import type { Client } from "@langchain/langgraph-sdk";
import {
  type Clock,
  GRAPH_PROVIDER_ID,
  type GraphExecutorPort,
  type GraphFinal,
  type GraphRunRequest,
  type GraphStatePort,
  systemClock,
  ThroughlineError,
  type UpstreamChunk,
} from "@throughline/ai-core";
import { createServerEventReader } from "@throughline/coerce";
import { createExternalRuns } from "../external-runs/external-runs.js";
import type { WatchSchedule } from "../external-runs/watch.js";
import type { GraphNotes } from "../graphs/graph.js";
import { toStopError } from "../inproc/errors.js";
import { createNewestValues } from "../inproc/graph-values.js";
import { deferred, withMissing } from "../inproc/run.js";
import type { GraphProvider } from "../provider.js";
import { cancelOrDetach, detachReason } from "./cancel-or-detach.js";
import { createServerCatalog } from "./catalog.js";
import {
  createServerClient,
  type ServerAddress,
  statusOf,
  toUpstreamError,
  whileUnreachable,
} from "./client.js";
import { createOrders, createRunMaker, type OrderStart } from "./create-run.js";
import {
  type FollowEnd,
  followRun,
  isOver,
  markReplayed,
  type Patience,
  type UpstreamRun,
} from "./follow-run.js";
import { failed, freeDeadRun, runOutcome } from "./outcome.js";
import { createServerState } from "./state.js";
import { findOwnRun } from "./threads.js";

export interface ServerExecutorOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly patience: Patience;
  readonly connectMs: number;
  readonly busyMs: number;
  /** Whether runs that a restart left behind may be deleted: only where a restart ends every run of the server. */
  readonly freesDeadRuns: boolean;
}

/** The result of a request: an upstream run to follow, or a final state that needs none. */
type Begun =
  | { readonly kind: "run"; readonly run: UpstreamRun; readonly hasBegun: boolean }
  | { readonly kind: "settled"; readonly final: GraphFinal };

/** Runs graphs on a LangGraph server: one upstream run per request, one reader per upstream run. */
function createServerExecutor(options: ServerExecutorOptions, states: GraphStatePort): GraphExecutorPort {
  const { client, clock, patience } = options;
  const toOrder = createOrders(client, states);
  const makeRun = createRunMaker(options);

  async function begin(request: GraphRunRequest): Promise<Begun> {
    const early = refusedBySignal(request.signal);
    if (early) return { kind: "settled", final: early };
    try {
      return await whileUnreachable(() => find(request), { clock, boundMs: options.connectMs });
    } catch (error) {
      return { kind: "settled", final: failed({}, "error", toUpstreamError(error)) };
    }
  }

  async function find(request: GraphRunRequest): Promise<Begun> {
    const { start, threadId, runId } = request;
    if (start.kind !== "continue") return create(request, start);
    const own = await findOwnRun(client, threadId, runId).catch(noneIfMissing);
    if (own) {
      // The driver died, not the upstream. An open run is read whole, its past as a replay; an ended one is read from its
      // checkpoint.
      const run = { threadId, upstreamRunId: own.run_id };
      if (!isOver(own)) return { kind: "run", run, hasBegun: own.status !== "pending" };
      const end = { kind: "ended", run: own, sign: { kind: "none" } } as const;
      return { kind: "settled", final: await complete(run, end, false, request.signal) };
    }
    const checkpoint = await states.getState(request);
    if (checkpoint?.runId !== runId) return create(request, start.original);
    if (checkpoint.next.length > 0 && checkpoint.interrupts.length === 0)
      return create(request, { kind: "go_on" });
    const { checkpointId, state, messages, interrupts } = checkpoint;
    const status = interrupts.length > 0 ? "interrupted" : "success";
    const result = { checkpointId, state, ...(messages && { messages }) };
    return { kind: "settled", final: { ok: true, status, ...result, interrupts } };
  }

  async function create(request: GraphRunRequest, start: OrderStart): Promise<Begun> {
    const upstreamRunId = await makeRun(await toOrder(request, start));
    return { kind: "run", run: { threadId: request.threadId, upstreamRunId }, hasBegun: false };
  }

  /** Cleans up after a failed run, so that the thread accepts the next one. Best effort: the run's own outcome is unaffected. */
  async function cleanUp(run: UpstreamRun, end: FollowEnd): Promise<void> {
    try {
      if (end.kind === "dead" && options.freesDeadRuns) await freeDeadRun(run, options);
      if (end.kind === "restarted") await client.runs.cancel(run.threadId, run.upstreamRunId);
    } catch {
      // The next run will find the thread busy and report it.
    }
  }

  async function complete(
    run: UpstreamRun,
    end: FollowEnd,
    stopped: boolean,
    signal: AbortSignal,
  ): Promise<GraphFinal> {
    if (end.kind === "left") {
      const left = new ThroughlineError("internal", "The run was left to itself.");
      return failed(run, "error", detachReason(signal) ?? left);
    }
    await cleanUp(run, end);
    return runOutcome(run, end, { client, clock, boundMs: patience.lostAfterMs, stopped });
  }

  async function* read(
    request: GraphRunRequest,
    begun: Promise<Begun>,
    resolveFinal: (final: GraphFinal) => void,
  ): AsyncGenerator<UpstreamChunk, void, undefined> {
    const start = await begun;
    if (start.kind === "settled") return resolveFinal(start.final);
    const asked = cancelOrDetach(request.signal);
    const { stop, leave } = asked;
    const followed = followRun(start.run, { client, clock, patience, stop, leave });
    const events = markReplayed(followed, { clock, hasBegun: start.hasBegun });
    let end: FollowEnd | undefined;
    const readEvent = createServerEventReader();
    const values = createNewestValues();
    try {
      for (let step = await events.next(); ; step = await events.next()) {
        if (step.done) {
          end = step.value;
          break;
        }
        const { event, origin } = step.value;
        if (event.event === "metadata") continue;
        const chunk = readEvent(event.event, event.data);
        values.read(chunk);
        yield { ...chunk, origin };
      }
    } finally {
      if (end === undefined) asked.giveUp("stop");
      end ??= await endOf(events);
      asked.release();
      const final = await complete(start.run, end, stop.aborted, request.signal);
      resolveFinal(withMissing(final, values.missingIn(final.state)));
    }
  }

  return {
    executorType: "langgraph_server",
    runGraph(request) {
      const begun = begin(request);
      const final = deferred<GraphFinal>();
      return { stream: read(request, begun, final.complete), final: final.promise };
    },
  };
}

async function endOf(events: AsyncGenerator<unknown, FollowEnd, undefined>): Promise<FollowEnd> {
  for (;;) {
    const step = await events.next();
    if (step.done) return step.value;
  }
}

function refusedBySignal(signal: AbortSignal): GraphFinal | undefined {
  if (!signal.aborted) return undefined;
  const reason = detachReason(signal);
  return reason ? failed({}, "error", reason) : failed({}, "cancelled", toStopError(signal.reason));
}

function noneIfMissing(error: unknown): undefined {
  if (statusOf(error) !== 404) throw error;
}

export interface ServerProviderOptions extends ServerAddress {
  readonly clock?: Clock;
  readonly patience?: Partial<Patience>;
  /** How long the server may be out of reach before a request is refused. */
  readonly connectMs?: number;
  /** R24: how long starts on a busy thread are retried. */
  readonly busyMs?: number;
  /** The operator's declarations of the server's graphs: commands, names, suggestions. A server reports only names and schemas. */
  readonly declared?: readonly GraphNotes[];
  /** Receives what an operator should know of the server's graphs. Default: a warning of the process. */
  readonly warn?: ((message: string) => void) | undefined;
  /**
   * Delete runs that a restart left as running for ever. Right for a server of one process, where a restart ends every
   * run; wrong where another process may still be running it.
   */
  readonly freesDeadRuns?: boolean;
  /** How often threads are polled for runs of others. */
  readonly watchPace?: WatchSchedule;
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
    foreignRuns: createExternalRuns({
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

/** `LANGGRAPH_SERVER_URL`: a LangGraph server in a container, or a hosted one. It manages its runs itself. */
export function createLangGraphServerAdapter(options: ServerProviderOptions): GraphProvider {
  return createServerProvider({ freesDeadRuns: false, ...options });
}
