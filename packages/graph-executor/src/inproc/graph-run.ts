import { setMaxListeners } from "node:events";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import {
  type AttachmentPort,
  type Clock,
  type GraphFinal,
  type GraphRunRequest,
  type GraphRunResult,
  isStoreOutage,
  type JsonObject,
  retryStore,
  ThroughlineError,
  toStoreFailure,
  type UpstreamChunk,
} from "@throughline/ai-core";
import { bindGraph } from "../graphs/bind-graph.js";
import { graphShape } from "../graphs/graph-shape.js";
import type { RunnableGraph } from "../graphs/runnable-graph.js";
import { attachmentSaver } from "../persistence/attachment-saver.js";
import { RunSaver } from "../persistence/run-saver.js";
import { RunStore } from "../persistence/run-store.js";
import { graphChanged } from "./graph-change.js";
import { createRootValues, type RootValues } from "./graph-values.js";
import { openGraphStream, type RunCallbacks } from "./open-graph-stream.js";
import { givenContext, type RunConfigurable, runConfigurable } from "./run-config.js";
import { isOfLoop, toRunError, toStopError, toWriteError } from "./run-error.js";
import { type StreamEnd, toGraphFinal, withMissing } from "./run-final.js";
import { runTrace } from "./run-trace.js";
import { settleable } from "./settleable.js";
import { planStart } from "./start-plan.js";
import { createRunScope } from "./stray-errors.js";
import { readThread } from "./thread-reading.js";

/** How long the last reading of a run waits for the store; its driver reads the checkpoint itself if that is too short. */
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
 * One run, from its first pull to its final word. The chunks are LangGraph's live objects, passed on as they come;
 * nothing is kept here. The graph is always stopped by signal: leaving LangGraph's iterator would let it run on unseen.
 */
export function startGraphRun(setup: GraphRunSetup, request: GraphRunRequest): GraphRunResult {
  const final = settleable<GraphFinal>();
  return { stream: pump(setup, request, final.settle), final: final.promise };
}

async function* pump(
  setup: GraphRunSetup,
  request: GraphRunRequest,
  settle: (final: GraphFinal) => void,
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
  // What stands if the reader leaves in the middle.
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
    settle({ ...withMissing(final, missing(unstored)), ...(unstored.length > 0 && { unstored }) });
  }

  function withAttachments(): BaseCheckpointSaver {
    const { attachments } = setup;
    if (!attachments) return saver;
    return attachmentSaver(saver, request, {
      readAttachment: (owner, id) => retryStore(waiting, () => attachments.readAttachment(owner, id)),
      keepFile: (owner, file) => retryStore(waiting, () => attachments.keepFile(owner, file)),
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

/** How a run ended; where the store is away and the stream ended well, that can't be told, and the outage is the answer. */
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
