import type { CallbackHandlerMethods } from "@langchain/core/callbacks/base";
import type { Dialect, GraphRunRequest, JsonObject, RunConfig, UpstreamChunk } from "@throughline/ai-core";
import { read, readArray, readGraphItem, readString } from "@throughline/coerce";
import { declaredContextKeys, type RunnableGraph } from "../graphs/graph.js";
import type { RunConfigurable } from "../run-input.js";
import { MessageIds } from "./message-ids.js";
import type { StartPlan } from "./start-plan.js";

/** All of them: each carries something a full translation needs, and together they cost little more than `messages`. */
const STREAM_MODES = ["messages", "updates", "values", "custom", "tasks", "checkpoints", "tools"] as const;

/** Stream modes requested along with events, for what events leave out. `tasks` shows that nodes ran. */
const MODES_WITH_EVENTS = ["updates", "values", "custom", "tasks", "checkpoints"] as const;

/** LangGraph's own plumbing, which its server does not stream either. */
const HIDDEN_TAG = "langsmith:hidden";

/** One handler of LangChain's callbacks, as a plain object. */
export type RunCallbacks = CallbackHandlerMethods;

export interface GraphStreamOptions {
  readonly dialect: Dialect;
  readonly configurable: RunConfigurable;
  /** The run's own configuration. */
  readonly config?: RunConfig | undefined;
  /** The run's part of the graph's context. */
  readonly given: JsonObject;
  readonly context: Readonly<Record<string, unknown>> | undefined;
  readonly callbacks?: readonly RunCallbacks[] | undefined;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
  /** Runs work in the run's async context, by which unhandled errors of the graph are attributed. */
  readonly inRun: <Result>(work: () => Result) => Result;
}

/** Runs a graph and returns its stream in the requested dialect. Rethrows the graph's errors. */
export async function* openGraphStream(
  graph: RunnableGraph,
  plan: Extract<StartPlan, { kind: "run" }>,
  options: GraphStreamOptions,
): AsyncGenerator<UpstreamChunk> {
  const { signal, inRun } = options;
  const callbacks = [new MessageIds(), ...(options.callbacks ?? [])];
  const { recursion_limit, tags, metadata } = options.config ?? {};
  const context = contextOf(graph, options);
  const config = {
    subgraphs: true,
    // A superstep begins only when the one before is stored, so a recovery never repeats more than one of them.
    durability: "sync",
    configurable: {
      ...options.configurable,
      ...(plan.checkpointId !== undefined && { checkpoint_id: plan.checkpointId }),
    },
    signal,
    ...options.trace,
    metadata: { ...metadata, ...options.trace.metadata },
    ...(recursion_limit !== undefined && { recursionLimit: recursion_limit }),
    ...(tags && { tags: [...tags] }),
    ...(context && { context }),
    callbacks,
  } as const;
  const open = options.dialect === "events" ? openEvents : openModes;
  const { items, read: readItem, end } = await inRun(() => open(graph, plan.input, config));
  const iterator = items[Symbol.asyncIterator]();
  const next = () => inRun(() => iterator.next());
  for (let item = await next(); !item.done; item = await next()) {
    const chunk = readItem(item.value);
    if (chunk) yield chunk;
  }
  end();
}

/**
 * LangGraph's `context` of a run: the graph's own (`withConfig`), the run's, and the provider's. A
 * graph with a context schema always has one; without one LangGraph would check all of `configurable` against that schema.
 */
function contextOf(
  graph: RunnableGraph,
  { given, context }: Pick<GraphStreamOptions, "given" | "context">,
): Readonly<Record<string, unknown>> | undefined {
  const declared = declaredContextKeys(graph);
  const bound = Object.entries(Object(graph.config?.configurable)).filter(([key]) => declared?.includes(key));
  const merged = { ...Object.fromEntries(bound), ...graph.config?.context, ...given, ...context };
  return declared || Object.keys(merged).length > 0 ? merged : undefined;
}

type GraphInput = Parameters<RunnableGraph["stream"]>[0];
type GraphConfig = NonNullable<Parameters<RunnableGraph["stream"]>[1]>;

interface OpenedStream {
  readonly items: AsyncIterable<unknown>;
  readonly read: (item: unknown) => UpstreamChunk | undefined;
  /** Throws what the graph threw, where the items did not. */
  readonly end: () => void;
}

async function openModes(
  graph: RunnableGraph,
  input: GraphInput,
  config: GraphConfig,
): Promise<OpenedStream> {
  const items = await graph.stream(input, { ...config, streamMode: [...STREAM_MODES] });
  return { items, read: readGraphItem, end: () => {} };
}

/**
 * A stream of `streamEvents` that fails drops the events that were not read yet. So the graph's stream that it reads ends
 * well, and the error is thrown when all events are read.
 */
async function openEvents(
  graph: RunnableGraph,
  input: GraphInput,
  config: GraphConfig,
): Promise<OpenedStream> {
  let failure: { readonly error: unknown } | undefined;
  async function* streamUnfailing(...args: Parameters<RunnableGraph["stream"]>): AsyncGenerator<unknown> {
    try {
      yield* await graph.stream(...args);
    } catch (error) {
      failure = { error };
    }
  }
  const unfailing: RunnableGraph = Object.create(graph, { stream: { value: streamUnfailing } });
  const streamMode = [...MODES_WITH_EVENTS];
  return {
    items: unfailing.streamEvents(input, { ...config, streamMode, version: "v2" }),
    read: createEventReader(),
    end() {
      if (failure) throw failure.error;
    },
  };
}

/** Reads events and the other modes, which come as stream events of the graph's own run, whose start is the first event. */
function createEventReader(): OpenedStream["read"] {
  let rootRunId: string | undefined;
  return (item) => {
    const runId = readString(item, "run_id");
    rootRunId ??= runId;
    if (runId === rootRunId && readString(item, "event") === "on_chain_stream")
      return readGraphItem(read(read(item, "data"), "chunk"));
    return readArray(item, "tags").includes(HIDDEN_TAG) ? undefined : readGraphItem(item);
  };
}

/** The names by which LangChain's tracers (LangSmith and others) record a run. */
interface RunTrace {
  readonly runId?: string;
  readonly runName: string;
  readonly metadata: Readonly<Record<string, string | number>>;
}

/**
 * A trace has the id of our run, so that it is found by what log and console show. A later attempt is a trace of its own,
 * because an id can't be used twice; it is found by its metadata. `thread_id` is added by LangGraph itself. The names are
 * ours: LangGraph reads `run_id` in metadata for itself.
 */
export function runTrace({
  runId,
  attempt,
  graphId,
  caller,
}: Pick<GraphRunRequest, "runId" | "attempt" | "graphId" | "caller">): RunTrace {
  return {
    ...(attempt === 0 && { runId }),
    runName: graphId,
    metadata: {
      throughline_run_id: runId,
      throughline_attempt: attempt,
      throughline_account: caller.billingAccountId,
      throughline_trace_id: caller.traceId,
    },
  };
}
