import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import { ThroughlineError } from "@throughline/ai-core";
import { isRunnableGraph, type RunnableGraph } from "./runnable-graph.js";

export interface GraphPersistence {
  readonly checkpointer: BaseCheckpointSaver;
  readonly store?: BaseStore;
}

/**
 * A copy of a graph with a saver and a store of its own; the original, which other runs share, stays as it was. Made as
 * LangGraph's `withConfig` makes copies, by the graph's own constructor, with two differences: `channels` is copied and
 * validation is off, because both constructor and validation write into what they were given.
 */
export function bindGraph(graph: RunnableGraph, { checkpointer, store }: GraphPersistence): RunnableGraph {
  const copy: unknown = Reflect.construct(graph.constructor, [
    {
      ...graph,
      channels: { ...graph.channels },
      autoValidate: false,
      checkpointer,
      store: store ?? graph.store,
    },
  ]);
  if (!isRunnableGraph(copy)) {
    throw new ThroughlineError("internal", `The graph "${graph.getName()}" can't be given a checkpointer.`);
  }
  return copy;
}
