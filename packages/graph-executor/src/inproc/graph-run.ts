import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import {
  type AttachmentPort,
  type GraphFinal,
  type GraphRunRequest,
  type GraphRunResult,
  type JsonObject,
  ThroughlineError,
  type UpstreamChunk,
} from "@throughline/ai-core";
import { bindGraph } from "../graphs/bind-graph.js";
import type { RunnableGraph } from "../graphs/runnable-graph.js";
import { attachmentSaver } from "../persistence/attachment-saver.js";
import { RunSaver } from "../persistence/run-saver.js";
import { RunStore } from "../persistence/run-store.js";
import { type RunConfigurable, runConfigurable } from "./run-config.js";
import { toRunError, toStopError } from "./run-error.js";
import { type StreamEnd, toGraphFinal } from "./run-final.js";
import { settleable } from "./settleable.js";
import { planStart, type StartPlan } from "./start-plan.js";
import { readThread } from "./thread-reading.js";

/** All of them: each carries something a full translation needs, and together they cost little more than `messages`. */
const STREAM_MODES = ["messages", "updates", "values", "custom", "tasks", "checkpoints", "tools"] as const;

export interface GraphRunSetup {
  readonly open: (configurable: RunConfigurable) => Promise<RunnableGraph>;
  /** Already fenced, where there is a lease. */
  readonly saver: BaseCheckpointSaver;
  readonly store: BaseStore | undefined;
  readonly attachments: AttachmentPort | undefined;
  readonly extraConfigurable: JsonObject;
  readonly context: Readonly<Record<string, unknown>> | undefined;
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
  const saver = new RunSaver(setup.saver, {
    runId: request.runId,
    onWriteFailed: (error) => stop.abort(toWriteError(error)),
  });
  const store = setup.store && new RunStore(setup.store);
  const configurable = runConfigurable(request, setup.extraConfigurable);
  let graph: RunnableGraph | undefined;
  let nodesRan = false;
  // What stands if the reader leaves in the middle.
  let end: StreamEnd = { kind: "failed", error: toStopError("The stream was left before its end.") };
  try {
    signal.throwIfAborted();
    graph = bindGraph(await setup.open(configurable), {
      checkpointer: setup.attachments ? attachmentSaver(saver, request, setup.attachments) : saver,
      ...(store && { store }),
    });
    const plan = await planStart({ graph, saver, request });
    if (plan.kind === "run") {
      for await (const item of stream(graph, plan, { configurable, context: setup.context, signal })) {
        if (item.mode === "tasks") nodesRan = true;
        yield item;
      }
    }
    signal.throwIfAborted();
    end = { kind: "ended" };
  } catch (error) {
    const failure = signal.aborted ? toStopError(signal.reason) : toRunError(error, nodesRan);
    end = { kind: "failed", error: failure };
  } finally {
    stop.abort(toStopError("The run is over."));
    await Promise.all([saver.close(), store?.close()]);
    settle(await readFinal(end, graph, setup.saver, request.threadId));
  }
}

async function* stream(
  graph: RunnableGraph,
  plan: Extract<StartPlan, { kind: "run" }>,
  options: {
    readonly configurable: RunConfigurable;
    readonly context: Readonly<Record<string, unknown>> | undefined;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<UpstreamChunk> {
  const { context, signal } = options;
  const chunks: AsyncIterable<unknown> = await graph.stream(plan.input, {
    streamMode: [...STREAM_MODES],
    subgraphs: true,
    // A superstep begins only when the one before is stored, so a takeover never repeats more than one of them.
    durability: "sync",
    configurable: {
      ...options.configurable,
      ...(plan.checkpointId !== undefined && { checkpoint_id: plan.checkpointId }),
    },
    signal,
    ...(context && { context }),
  });
  const iterator = chunks[Symbol.asyncIterator]();
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    const chunk = toChunk(next.value);
    if (chunk) yield chunk;
  }
}

/** With several modes and subgraphs every item is `[namespace, mode, payload]`. */
function toChunk(item: unknown): UpstreamChunk | undefined {
  if (!Array.isArray(item)) return undefined;
  const [ns, mode, data]: readonly unknown[] = item;
  if (!Array.isArray(ns) || typeof mode !== "string") return undefined;
  return { ns: ns.filter((segment) => typeof segment === "string"), mode, data };
}

async function readFinal(
  end: StreamEnd,
  graph: RunnableGraph | undefined,
  saver: BaseCheckpointSaver,
  threadId: string,
): Promise<GraphFinal> {
  if (!graph) return toGraphFinal(end, undefined);
  try {
    return toGraphFinal(end, await readThread(graph, saver, threadId));
  } catch (error) {
    const unreadable = new ThroughlineError("internal", "The run's checkpoint could not be read.", {
      cause: error,
    });
    return toGraphFinal(end.kind === "failed" ? end : { kind: "failed", error: unreadable }, undefined);
  }
}

function toWriteError(error: unknown): ThroughlineError {
  if (error instanceof ThroughlineError) return error;
  return new ThroughlineError("internal", "The run's checkpoint could not be written.", { cause: error });
}
