import {
  type FollowedRun,
  type FreshRunStart,
  type GraphFinal,
  type GraphRunResult,
  type GraphRunStart,
  type PayloadOf,
  ThroughlineError,
} from "@throughline/ai-core";
import { emptyFold, type ThreadFold } from "@throughline/stream-adapter";
import type { Finish, LeasedRun, RunRecord } from "@throughline/thread-log";
import { type ReadFold, readThreadFold } from "../thread/read-thread-fold.js";
import { noteOf } from "../thread/run-note.js";
import { fromRunRow, type RunRequest } from "../thread/run-request.js";
import { schemaKeys } from "../thread/schema-keys.js";
import type { LeaveReason } from "../thread/service-observer.js";
import { unheldMessages } from "./accept-input.js";
import { type AppendFailure, createAppendQueue } from "./append-queue.js";
import { noteCall } from "./call-notes.js";
import { checkpointFinal } from "./checkpoint-final.js";
import type { DriverDeps } from "./driver-deps.js";
import { outsidersMessages } from "./foreign-messages.js";
import { planTakeUp } from "./plan-take-up.js";
import { createRunRecorder, type RunRecorder } from "./run-recorder.js";
import { createUsageFacts } from "./usage-facts.js";

export interface DrivenRun {
  readonly run: RunRecord;
  /** Settles once the run's beginning is in the log, or will not be; never rejects. */
  readonly begun: Promise<void>;
  /** Settles once the run was ended or left; never rejects. `next`: a run of this thread waits. */
  readonly done: Promise<{ readonly ended: boolean; readonly next: boolean }>;
  stop(): void;
  /** Lets go of the run without ending it, so that another instance may take it up. */
  handOver(): void;
}

const STOPPED = new ThroughlineError("cancelled", "The run was stopped.");
const LEFT = new ThroughlineError("conflict", "This instance no longer drives the run.");
/** An upstream that does not answer a stop is not waited for longer: the run ends as stopped whatever it does. */
const STOP_GRACE_MS = 5_000;

/**
 * R1: the only reader of a run. Holds its lease, pumps its graph into the log to the end whoever watches, and finishes it
 * exactly once. It writes nothing once it knows that the lease is gone; what it does not know yet, the fence refuses.
 */
export function driveRun(deps: DriverDeps, { run, fence }: LeasedRun): DrivenRun {
  const { log, registry, clock, observer } = deps;
  const about = noteOf(run);
  const abort = new AbortController();
  const { promise: begun, resolve: begin } = deferred();
  let left: LeaveReason | undefined;
  let excess: ThroughlineError | undefined;

  const queue = createAppendQueue({
    log,
    thread: run.thread,
    fence,
    onAppended: (count) => observer.entriesAppended(count),
    onFailure,
  });

  function onFailure(failure: AppendFailure): void {
    if (failure.kind === "refused") {
      observer.appendRefused(failure.reason);
      leave(failure.reason === "deleted" ? "deleted" : "lost_lease");
    } else {
      observer.failed("The log could not be written.", failure.error, about);
      leave("log_unavailable");
    }
  }

  function leave(why: LeaveReason): void {
    if (left !== undefined) return;
    left = why;
    queue.close();
    abort.abort(LEFT);
  }

  const stop = () => abort.abort(STOPPED);
  const stopKeeping = deps.keeper.keep(fence, { lost: () => leave("lost_lease"), stop });
  if (run.stopRequested) stop();

  async function drive(): Promise<{ ended: boolean; next: boolean }> {
    try {
      const end = await work();
      if (end !== undefined && left === undefined) return await finish(end);
    } catch (error) {
      observer.failed("A run could not be driven.", error, about);
      leave("failed");
    } finally {
      stopKeeping();
      begin();
    }
    await queue.settled();
    return letGo(left ?? "lost_lease");
  }

  async function letGo(why: LeaveReason): Promise<{ ended: boolean; next: boolean }> {
    observer.runLeft({ ...about, why });
    try {
      // Nothing stays running: what fails even to be given up in order is given up.
      if (why === "failed" && run.attempt > deps.maxAttempts) return await finish({ status: "lost" });
      // Whoever deletes the thread waits for the last word of its driver.
      if (why === "deleted") await registry.finish(fence, { status: "cancelled" });
      // What failed is left until its lease runs out, or it would be taken up again at once, and again.
      if (why === "handed_over" || why === "log_unavailable") await registry.release(fence);
    } catch (error) {
      observer.failed("A lease could not be given up; it runs out by itself.", error, about);
    }
    return { ended: false, next: false };
  }

  /** `undefined` when the run is to be left as it is. */
  async function work(): Promise<Finish | undefined> {
    const request = fromRunRow(run.request);
    const opened = await log.open(run.thread, fence, { stateKey: request.stateKey });
    if (!opened.ok) {
      onFailure({ kind: "refused", reason: opened.reason });
      return undefined;
    }
    const read: ReadFold =
      opened.head.seq === 0
        ? { fold: emptyFold, position: opened.head }
        : await readThreadFold(deps, { ref: run.thread, graphId: run.graphId });
    const plan = await planTakeUp(deps, run, read);
    if (plan.kind === "ended") return { status: plan.status, interrupts: plan.interrupts };
    if (run.attempt > 0) observer.takenOver(about);
    const agent = await deps.agents.getAgent(run.graphId);
    // Whoever started a run pays for it.
    const factOf =
      request.work === "graph" ? createUsageFacts(run, request, deps.executor.executorType) : () => undefined;
    const recorder = createRunRecorder({
      run,
      request,
      clock,
      queue,
      fold: read.fold,
      withdrawn: plan.kind === "again" ? plan.withdrawn : [],
      stateKeys: agent && schemaKeys(agent.outputSchema),
      bounds: deps.boundsOf(run.thread.account),
      onExcess(error) {
        excess = error;
        abort.abort(error);
      },
      onEnvelope(envelope) {
        noteCall(observer, about, envelope);
        const fact = factOf(envelope);
        if (fact)
          deps.usage.settle(fact).catch((error) => observer.failed("Usage was not recorded.", error, about));
      },
    });
    const start = freshStart(run.start, plan.kind === "again" ? undefined : read.fold);
    recorder.start(runStart(run, request, await shownStart(request, start, read.fold)));
    observer.runStarted(about);
    if (request.work === "foreign") await queue.settled();
    begin();
    const reached = await reachEnd(request, start, recorder);
    const final: GraphFinal = excess
      ? { ...reached, ok: false, status: "error", error: excess, interrupts: [] }
      : reached;
    if (left !== undefined) {
      recorder.close();
      return undefined;
    }
    recorder.finish(final);
    if (!(await queue.settled())) return undefined;
    if (final.upstreamRunId !== undefined) await registry.setUpstreamRun(fence, final.upstreamRunId);
    return {
      status: final.error?.code === "run_lost" ? "lost" : final.status,
      interrupts: final.status === "interrupted" ? final.interrupts.map((open) => open.interrupt_id) : [],
    };
  }

  /** What a watcher is told the run began from. */
  async function shownStart(
    { work }: RunRequest,
    start: FreshRunStart,
    fold: ThreadFold,
  ): Promise<FreshRunStart> {
    if (work !== "foreign") return start;
    return { kind: "input", messages: await outsidersMessages(deps.state, run, fold) };
  }

  async function reachEnd(
    request: RunRequest,
    start: FreshRunStart,
    recorder: RunRecorder,
  ): Promise<GraphFinal> {
    if (request.work === "reconcile" || (request.work === "foreign" && !deps.foreignRuns))
      return checkpointFinal(deps.state, run);
    if (run.attempt > deps.maxAttempts) {
      const error = new ThroughlineError("run_lost", "The run was interrupted too often and was given up.");
      return {
        ...(await checkpointFinal(deps.state, run)),
        ok: false,
        status: "error",
        error,
        interrupts: [],
      };
    }
    const final = await pump(request, start, recorder);
    if (final.checkpointId !== undefined || left !== undefined) return final;
    try {
      // Stopped before the graph was so much as opened, or not waited for: what it left behind is still the truth.
      return { ...(await checkpointFinal(deps.state, run)), ...final };
    } catch {
      return final;
    }
  }

  /** R5: an outsider's run is read by its name, on its first attempt as on any later one; nothing is run again. */
  function open(request: RunRequest, start: FreshRunStart): FollowedRun | GraphRunResult {
    if (request.work === "foreign" && deps.foreignRuns && run.upstreamRunId !== undefined) {
      const name = { threadId: run.thread.threadId, upstreamRunId: run.upstreamRunId };
      return deps.foreignRuns.follow(name, abort.signal);
    }
    return deps.executor.runGraph({
      runId: run.runId,
      attempt: run.attempt,
      ingressRequestId: request.ingressRequestId,
      caller: request.caller,
      graphId: run.graphId,
      threadId: run.thread.threadId,
      stateKey: request.stateKey,
      model: request.model,
      start: run.attempt === 0 ? start : { kind: "continue", original: start },
      tools: request.tools,
      context: request.context,
      command: request.command,
      profile: request.profile,
      fence,
      signal: abort.signal,
    });
  }

  async function pump(request: RunRequest, start: FreshRunStart, recorder: RunRecorder): Promise<GraphFinal> {
    const { stream, final } = open(request, start);
    let over = false;
    const read = async () => {
      for await (const chunk of stream) {
        if (over) break;
        recorder.chunk(chunk);
        await queue.room();
      }
      return final;
    };
    const grace = graceAfterAbort();
    try {
      return await Promise.race([read(), grace.expired]);
    } finally {
      over = true;
      grace.cancel();
    }
  }

  /** Settles some time after the run was stopped or left, unless it ended by then. */
  function graceAfterAbort(): { readonly expired: Promise<GraphFinal>; cancel(): void } {
    let cancel = () => {};
    const expired = new Promise<GraphFinal>((resolve) => {
      const wait = () => {
        const timer = clock.schedule(STOP_GRACE_MS, () =>
          resolve({ ok: false, status: "cancelled", error: STOPPED, interrupts: [] }),
        );
        cancel = () => timer.cancel();
      };
      if (abort.signal.aborted) wait();
      else {
        abort.signal.addEventListener("abort", wait, { once: true });
        cancel = () => abort.signal.removeEventListener("abort", wait);
      }
    });
    return { expired, cancel: () => cancel() };
  }

  async function finish(end: Finish): Promise<{ ended: boolean; next: boolean }> {
    const result = await registry.finish(fence, end);
    if (!result.ok) return { ended: result.reason === "ended", next: false };
    observer.runEnded({ ...about, status: end.status });
    return { ended: true, next: result.next !== undefined };
  }

  return { run, begun, done: drive(), stop, handOver: () => leave("handed_over") };
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Waiting in the queue, a run's messages may have entered the thread by another way. */
function freshStart(start: GraphRunStart | undefined, fold: ThreadFold | undefined): FreshRunStart {
  if (start === undefined || start.kind === "continue") return { kind: "input", messages: [] };
  if (start.kind !== "input" || fold === undefined) return start;
  return { ...start, messages: unheldMessages(fold, start.messages) };
}

function runStart(run: RunRecord, request: RunRequest, start: FreshRunStart): PayloadOf<"run_start"> {
  const { id, kind } = run.origin;
  return {
    graph_id: run.graphId,
    ...(run.alias !== undefined && request.work === "graph" && { client_run_id: run.alias }),
    input: {
      messages: start.kind === "resume" ? [] : [...start.messages],
      ...(start.kind === "input" && start.state && { state: start.state }),
    },
    answers: start.kind === "resume" ? Object.keys(start.answers) : [],
    started_by: { kind, ...(id !== undefined && { id }) },
    ...(request.work === "reconcile" && { coarse: true }),
  };
}
