import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { type Clock, isStoreOutage, type JsonObject, type StateUpdate } from "@throughline/ai-core";
import { readString } from "@throughline/coerce";
import { bindGraph } from "../graphs/bind-graph.js";
import { graphShape } from "../graphs/graph-shape.js";
import type { RunnableGraph } from "../graphs/runnable-graph.js";
import { toGraphMessage } from "../messages/to-graph-message.js";
import { RunSaver } from "../persistence/run-saver.js";
import { toUpdateError, toWriteError } from "./run-error.js";

export interface ThreadUpdate {
  readonly graph: RunnableGraph;
  /** Already fenced, where there is a lease. */
  readonly saver: BaseCheckpointSaver;
  readonly threadId: string;
  /** The run that writes, where one does. */
  readonly runId: string | undefined;
  readonly update: StateUpdate;
  readonly clock: Clock;
  readonly patienceMs: number;
  readonly isClockRight?: (() => boolean) | undefined;
}

/** Writes state outside a graph's run, under the same conditions as a run's checkpoints. Gives the new checkpoint's id. */
export async function updateThread(options: ThreadUpdate): Promise<string> {
  const { graph, threadId, update, ...saving } = options;
  let failure: { readonly error: unknown } | undefined;
  const saver = new RunSaver(options.saver, {
    ...saving,
    signal: new AbortController().signal,
    onWriteFailed: (error) => {
      failure = { error };
    },
  });
  saver.stampShape(graphShape(graph));
  const config = { configurable: { thread_id: threadId, checkpoint_ns: "" } };
  // What fails here is the store or a clock, what fails after it is the graph.
  await saver.getTuple(config);
  const bound = bindGraph(graph, { checkpointer: saver });
  const written = await bound
    .updateState(config, updateValues(graph, update), update.asNode)
    .catch((error: unknown) => Promise.reject(isStoreOutage(error) ? error : toUpdateError(error)));
  if (failure) throw toWriteError(failure.error);
  return readString(written.configurable, "checkpoint_id") ?? "";
}

/** Channels that join a new value to the one they have, and are set to it only when told to. */
const JOINING = new Set(["BinaryOperatorAggregate", "DeltaChannel"]);

function updateValues({ channels }: RunnableGraph, { state = {}, messages = [] }: StateUpdate): JsonObject {
  const { messages: _, ...values } = state;
  const set = Object.entries(values).map(([name, value]) => {
    const joins = JOINING.has(readString(channels[name], "lc_graph_name") ?? "");
    return [name, joins ? { __overwrite__: value } : value];
  });
  return {
    ...Object.fromEntries(set),
    ...(messages.length > 0 && { messages: messages.map(toGraphMessage) }),
  };
}
