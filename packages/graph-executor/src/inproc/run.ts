import { AsyncLocalStorage } from "node:async_hooks";
import { setMaxListeners } from "node:events";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import {
  type AttachmentPort,
  type Clock,
  type GraphFinal,
  type GraphRunRequest,
  type GraphRunResult,
  type Interrupt,
  isStoreOutage,
  type JsonObject,
  type RunStatus,
  retryStore,
  ThroughlineError,
  toStoreFailure,
  type UpstreamChunk,
} from "@throughline/ai-core";
import { toPlainObject } from "@throughline/coerce";
import { attachmentSaver } from "../attachments/attachment-saver.js";
import { extractFiles } from "../attachments/files.js";
import { RunSaver } from "../checkpoints/run-saver.js";
import { bindGraph, graphShape, type RunnableGraph } from "../graphs/graph.js";
import { givenContext, type RunConfigurable, runConfigurable } from "../run-input.js";
import { RunStore } from "../store/run-store.js";
import { isOfLoop, toRunError, toStopError, toWriteError } from "./errors.js";
import { createRootValues, type RootValues } from "./graph-values.js";
import { graphChanged } from "./open-tasks.js";
import { planStart } from "./start-plan.js";
import { openGraphStream, type RunCallbacks, runTrace } from "./stream.js";
import { newestCheckpoint, readThread, type ThreadReading, waitingQuestions } from "./thread-state.js";

/** How long a run's final read waits for the store; its driver reads the checkpoint itself if that is too short. */
const FINAL_PATIENCE_MS = 60_000;

export interface GraphRunSetup {
  /** `undefined` when there is no graph of this name. */
  readonly open: (configurable: RunConfigurable) => Promise<RunnableGraph | undefined>;
  readonly unknownAgent: () => Promise<ThroughlineError>;
  /** Already fenced, where there is a lease. */
  readonly saver: BaseCheckpointSaver;
  /** Already fenced, and the caller's own part. */
  readonly store: BaseStore | undefined;
  readonly attachments: AttachmentPort | undefined;
  readonly extraConfigurable: JsonObject;
  readonly context: Readonly<Record<string, unknown>> | undefined;
  readonly callbacks?: readonly RunCallbacks[] | undefined;
  readonly clock: Clock;
  readonly isClockRight?: (() => boolean) | undefined;
}

/**
 * One run, from its first pull to its final result. The chunks are LangGraph's live objects, passed on as they come;
 * nothing is retained here. The graph is always stopped by signal: leaving LangGraph's iterator would let it run on unseen.
 */
export function startGraphRun(setup: GraphRunSetup, request: GraphRunRequest): GraphRunResult {
  const final = deferred<GraphFinal>();
  return { stream: pump(setup, request, final.complete), final: final.promise };
}

async function* pump(
  setup: GraphRunSetup,
  request: GraphRunRequest,
  complete: (final: GraphFinal) => void,
): AsyncGenerator<UpstreamChunk> {
  const stop = new AbortController();
  const signal = AbortSignal.any([request.signal, stop.signal]);
  // Every task of the graph listens to it, and every write that waits for the store.
  setMaxListeners(0, signal);
  const inRun = createRunScope((error) => stop.abort(error));
  const waiting = { clock: setup.clock, signal };
  const onWriteFailed = (error: unknown) => stop.abort(toWriteError(error));
  const saver = new RunSaver(setup.saver, {
    ...waiting,
    runId: request.runId,
    isClockRight: setup.isClockRight,
    onWriteFailed,
  });
  const store = setup.store && new RunStore(setup.store, { ...waiting, onWriteFailed });
  const configurable = runConfigurable(request, setup.extraConfigurable);
  let graph: RunnableGraph | undefined;
  let isOpened = false;
  let nodesRan = false;
  let missing: RootValues["missing"] = () => ({});
  // The end if the reader leaves in the middle.
  let end: StreamEnd = { kind: "failed", error: toStopError("The stream was left before its end.") };
  try {
    signal.throwIfAborted();
    const opened = await inRun(() => setup.open(configurable));
    isOpened = true;
    if (opened) {
      saver.stampShape(graphShape(opened));
      graph = bindGraph(opened, { checkpointer: withAttachments(), ...(store && { store }) });
    }
    const plan = await planStart({ graph, saver, request, unknownAgent: setup.unknownAgent });
    if (graph && plan.kind === "run") {
      const values = createRootValues(graph);
      missing = values.missing;
      for await (const item of openGraphStream(graph, plan, {
        dialect: request.dialect ?? "modes",
        configurable,
        config: request.config,
        given: givenContext(request),
        context: setup.context,
        callbacks: setup.callbacks,
        trace: runTrace(request),
        signal,
        inRun,
      })) {
        if (item.mode === "tasks") nodesRan = true;
        yield values.read(item);
      }
    }
    signal.throwIfAborted();
    end = { kind: "ended" };
  } catch (error) {
    end = { kind: "failed", error: toFailure(error) };
  } finally {
    // Not after a stream that ended by itself: LangGraph leaves a promise unhandled that an abort rejects, where all tasks of a
    // superstep were answered from a cache. Whatever still runs finds saver and store closed.
    if (end.kind === "failed") stop.abort(toStopError("The run is over."));
    await Promise.all([saver.close(), store?.close()]);
    const final = isOpened ? await readFinal(end, graph, setup, request) : toGraphFinal(end, undefined);
    const { unstored } = saver;
    complete({ ...withMissing(final, missing(unstored)), ...(unstored.length > 0 && { unstored }) });
  }

  function withAttachments(): BaseCheckpointSaver {
    const { attachments } = setup;
    if (!attachments) return saver;
    return attachmentSaver(saver, request, {
      readAttachment: (owner, id) => retryStore(waiting, () => attachments.readAttachment(owner, id)),
      storeFile: (owner, file) => retryStore(waiting, () => attachments.storeFile(owner, file)),
    });
  }

  function toFailure(error: unknown): ThroughlineError {
    if (signal.aborted) return toStopError(signal.reason);
    const failure = toRunError(error, nodesRan);
    const isUnfit = failure.code === "run_failed" && isOfLoop(error) && saver.foundOtherShape;
    return isUnfit
      ? graphChanged(request.graphId, { kind: "unfit" }, { asks: false, cause: error })
      : failure;
  }
}

/** The run's final state; where the stream ended well but the store is in an outage, the outage is the result. */
async function readFinal(
  end: StreamEnd,
  graph: RunnableGraph | undefined,
  { saver, clock }: GraphRunSetup,
  { threadId, signal }: GraphRunRequest,
): Promise<GraphFinal> {
  try {
    const patience = { clock, signal, patienceMs: FINAL_PATIENCE_MS };
    const reading = await retryStore(patience, () => readThread(graph, saver, threadId));
    return toGraphFinal(end, reading);
  } catch (error) {
    if (end.kind === "failed") return toGraphFinal(end, undefined);
    const failure = toStoreFailure(error);
    const unreadable =
      failure instanceof ThroughlineError && isStoreOutage(failure)
        ? failure
        : new ThroughlineError("internal", "The run's checkpoint could not be read.", { cause: error });
    return toGraphFinal({ kind: "failed", error: unreadable }, undefined);
  }
}

/** The end of reading a run's stream. */
type StreamEnd =
  | { readonly kind: "ended" }
  /** An error of ours; `cancelled` where the run was stopped on purpose. */
  | { readonly kind: "failed"; readonly error: ThroughlineError };

/** The run's final state: failure by the stream, everything else by the checkpoint. */
function toGraphFinal(end: StreamEnd, reading: ThreadReading | undefined): GraphFinal {
  const waiting = reading ? waitingQuestions(reading) : [];
  const checkpoint = reading && newestCheckpoint(reading);
  const status = statusOf(end, reading, waiting);
  return {
    ok: status === "success" || status === "interrupted",
    status,
    ...(end.kind === "failed" && { error: end.error }),
    ...(checkpoint && {
      checkpointId: checkpoint.checkpointId,
      state: checkpoint.state,
      ...(checkpoint.messages && { messages: checkpoint.messages }),
      ...(checkpoint.files && { files: checkpoint.files }),
    }),
    // Also of a run that failed or was stopped: an interrupt without a response is still open.
    interrupts: status === "success" ? [] : waiting,
  };
}

/** Adds what the run gave in channels that its checkpoint lacks; the next run begins without it, as LangGraph's does. */
export function withMissing(final: GraphFinal, missing: Readonly<Record<string, unknown>>): GraphFinal {
  if (!final.state || Object.keys(missing).length === 0) return final;
  const { value, files } = extractFiles(missing);
  const found = [...(final.files ?? []), ...files];
  return {
    ...final,
    state: { ...final.state, ...toPlainObject(value) },
    ...(found.length > 0 && { files: found }),
  };
}

function statusOf(
  end: StreamEnd,
  reading: ThreadReading | undefined,
  waiting: readonly Interrupt[],
): RunStatus {
  if (end.kind === "failed") return end.error.code === "cancelled" ? "cancelled" : "error";
  // Nodes left to run without an interrupt: the graph was compiled with a breakpoint.
  const stoppedShort = waiting.length > 0 || (reading?.openTasks.length ?? 0) > 0;
  return stoppedShort ? "interrupted" : "success";
}
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly complete: (value: T) => void;
}

export function deferred<T>(): Deferred<T> {
  let complete: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    complete = resolve;
  });
  return { promise, complete };
}

/** A run as its graph's code finds it, in any async context that code started. */
interface RunScope {
  fail(error: ThroughlineError): void;
}

const scopes = new AsyncLocalStorage<RunScope>();

/** Gives a function that calls another one as part of a run: what that one leaves unhandled belongs to the run. */
function createRunScope(fail: (error: ThroughlineError) => void): <Result>(work: () => Result) => Result {
  const scope: RunScope = { fail };
  return (work) => scopes.run(scope, work);
}

/**
 * Fails the run that an unhandled error came from, and returns whether there was one. To be called by the process's handlers
 * of `unhandledRejection` and `uncaughtException`, directly: Node calls these in the async context of the error. Covered
 * are promises that a run made and left rejected, and errors thrown by a run's timers, immediates, ticks, event emitters
 * and sockets. Not covered, before Node 24, are those of `queueMicrotask`. A promise that one run makes and another rejects
 * counts as the first one's before Node 24, and as the second one's from there on.
 */
export function failRunOfUnhandledError(error: unknown): boolean {
  const scope = scopes.getStore();
  if (!scope) return false;
  scope.fail(new ThroughlineError("run_failed", "The graph left an error unhandled.", { cause: error }));
  return true;
}
