import type { Client } from "@langchain/langgraph-sdk";
import {
  type Clock,
  type GraphExecutorPort,
  type GraphFinal,
  type GraphRunRequest,
  type GraphStatePort,
  ThroughlineError,
  type UpstreamChunk,
} from "@throughline/ai-core";
import { createServerEventReader } from "@throughline/coerce";
import { createNewestValues } from "../inproc/graph-values.js";
import { toStopError } from "../inproc/run-error.js";
import { withMissing } from "../inproc/run-final.js";
import { settleable } from "../inproc/settleable.js";
import { createRunMaker } from "./create-run.js";
import { type FollowEnd, followRun, isOver, type Patience } from "./follow-run.js";
import { freeDeadRun } from "./free-dead-run.js";
import { markReplayed } from "./mark-replayed.js";
import { createOrders, type OrderStart } from "./run-order.js";
import { failed, runOutcome } from "./run-outcome.js";
import type { UpstreamRun } from "./run-reader.js";
import { findOwnRun } from "./server-run.js";
import { leavingReason, stopOrLeave } from "./stop-or-leave.js";
import { statusOf, toUpstreamError } from "./upstream-failure.js";
import { whileUnreachable } from "./while-unreachable.js";

export interface ServerExecutorOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly patience: Patience;
  readonly connectMs: number;
  readonly busyMs: number;
  /** Whether runs that a restart left behind may be deleted: only where a restart ends every run of the server. */
  readonly freesDeadRuns: boolean;
}

/** What a request became: an upstream run to follow, or an answer that needs none. */
type Begun =
  | { readonly kind: "run"; readonly run: UpstreamRun; readonly hasBegun: boolean }
  | { readonly kind: "settled"; readonly final: GraphFinal };

/** Runs graphs on a LangGraph server: one upstream run per request, one reader per upstream run. */
export function createServerExecutor(
  options: ServerExecutorOptions,
  states: GraphStatePort,
): GraphExecutorPort {
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
      // The driver died, not the upstream. What goes on is read whole, its past as a replay; what is over is told by its checkpoint.
      const run = { threadId, upstreamRunId: own.run_id };
      if (!isOver(own)) return { kind: "run", run, hasBegun: own.status !== "pending" };
      const end = { kind: "ended", run: own, sign: { kind: "none" } } as const;
      return { kind: "settled", final: await settle(run, end, false, request.signal) };
    }
    const checkpoint = await states.getState(request);
    if (checkpoint?.runId !== runId) return create(request, start.original);
    if (checkpoint.next.length > 0 && checkpoint.interrupts.length === 0)
      return create(request, { kind: "go_on" });
    const { checkpointId, state, messages, interrupts } = checkpoint;
    const status = interrupts.length > 0 ? "interrupted" : "success";
    const kept = { checkpointId, state, ...(messages && { messages }) };
    return { kind: "settled", final: { ok: true, status, ...kept, interrupts } };
  }

  async function create(request: GraphRunRequest, start: OrderStart): Promise<Begun> {
    const upstreamRunId = await makeRun(await toOrder(request, start));
    return { kind: "run", run: { threadId: request.threadId, upstreamRunId }, hasBegun: false };
  }

  /** After a run that ended badly, so that the thread takes the next one. Best effort: the run's own verdict stands. */
  async function cleanUp(run: UpstreamRun, end: FollowEnd): Promise<void> {
    try {
      if (end.kind === "dead" && options.freesDeadRuns) await freeDeadRun(run, options);
      if (end.kind === "restarted") await client.runs.cancel(run.threadId, run.upstreamRunId);
    } catch {
      // The next run will find the thread busy and say so.
    }
  }

  async function settle(
    run: UpstreamRun,
    end: FollowEnd,
    stopped: boolean,
    signal: AbortSignal,
  ): Promise<GraphFinal> {
    if (end.kind === "left") {
      const left = new ThroughlineError("internal", "The run was left to itself.");
      return failed(run, "error", leavingReason(signal) ?? left);
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
    const asked = stopOrLeave(request.signal);
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
      const final = await settle(start.run, end, stop.aborted, request.signal);
      resolveFinal(withMissing(final, values.missingIn(final.state)));
    }
  }

  return {
    executorType: "langgraph_server",
    runGraph(request) {
      const begun = begin(request);
      const final = settleable<GraphFinal>();
      return { stream: read(request, begun, final.settle), final: final.promise };
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
  const reason = leavingReason(signal);
  return reason ? failed({}, "error", reason) : failed({}, "cancelled", toStopError(signal.reason));
}

function noneIfMissing(error: unknown): undefined {
  if (statusOf(error) !== 404) throw error;
}
