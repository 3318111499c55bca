import {
  type Clock,
  type ExternalRunsPort,
  type FollowedRun,
  type FreshRunStart,
  type GraphExecutorPort,
  type GraphFinal,
  type GraphRunResult,
  ThroughlineError,
} from "@throughline/ai-core";
import type { LeasedRun } from "@throughline/thread-log";
import type { RunRequest } from "../threads/run-spec.js";
import type { AppendQueue } from "./append-queue.js";
import type { RunMedia } from "./run-media.js";
import type { RunRecorder } from "./run-recorder.js";

export interface GraphWork {
  readonly leased: LeasedRun;
  readonly request: RunRequest;
  readonly start: FreshRunStart;
  readonly signal: AbortSignal;
  readonly recorder: RunRecorder;
  readonly queue: AppendQueue;
  readonly media: RunMedia;
}

export interface RunGraphDeps {
  readonly executor: GraphExecutorPort;
  /** Present where graphs run on a server that others use too. */
  readonly foreignRuns?: ExternalRunsPort | undefined;
  readonly clock: Clock;
}

/** How long an upstream may take to react to a stop: after that the run ends as stopped regardless. */
const STOP_GRACE_MS = 5_000;

/** Runs the graph and records its stream to the end; resolves with how it ended. */
export async function runGraph(deps: RunGraphDeps, work: GraphWork): Promise<GraphFinal> {
  const { recorder, queue, media, signal } = work;
  const { stream, final } = open(deps, work);
  let over = false;
  const read = async () => {
    for await (const chunk of stream) {
      if (over) break;
      recorder.chunk(media.take(chunk));
      await queue.room();
      await media.room();
    }
    return final;
  };
  const grace = graceAfterAbort(deps.clock, signal);
  try {
    return await Promise.race([read(), grace.expired]);
  } finally {
    over = true;
    grace.cancel();
  }
}

/** R5: an external run is read by its name, on its first attempt as on any later one; nothing is run again. */
function open(
  { executor, foreignRuns }: RunGraphDeps,
  { leased: { run, fence }, request, start, signal }: GraphWork,
): FollowedRun | GraphRunResult {
  if (request.work === "foreign" && foreignRuns && run.upstreamRunId !== undefined) {
    const { upstreamRunId, thread } = run;
    return foreignRuns.follow({ threadId: thread.threadId, upstreamRunId, dialect: request.dialect }, signal);
  }
  return executor.runGraph({
    runId: run.runId,
    attempt: run.attempt,
    ingressRequestId: request.ingressRequestId,
    caller: request.caller,
    graphId: run.graphId,
    threadId: run.thread.threadId,
    stateKey: request.stateKey,
    model: request.model,
    config: request.config,
    start: run.attempt === 0 ? start : { kind: "continue", original: start },
    tools: request.tools,
    context: request.context,
    command: request.command,
    profile: request.profile,
    dialect: request.dialect,
    fence,
    signal,
  });
}

/** Resolves some time after the run was stopped or left, unless it is cancelled by then. */
function graceAfterAbort(
  clock: Clock,
  signal: AbortSignal,
): { readonly expired: Promise<GraphFinal>; cancel(): void } {
  const error = new ThroughlineError("cancelled", "The run was stopped.");
  let cancel = () => {};
  const expired = new Promise<GraphFinal>((resolve) => {
    const wait = () => {
      const timer = clock.schedule(STOP_GRACE_MS, () =>
        resolve({ ok: false, status: "cancelled", error, interrupts: [] }),
      );
      cancel = () => timer.cancel();
    };
    if (signal.aborted) wait();
    else {
      signal.addEventListener("abort", wait, { once: true });
      cancel = () => signal.removeEventListener("abort", wait);
    }
  });
  return { expired, cancel: () => cancel() };
}
