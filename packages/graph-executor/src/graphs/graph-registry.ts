import { type GraphDescriptor, ThroughlineError } from "@throughline/ai-core";
import type { GraphOpening, GraphSource } from "./graph-source.js";
import type { RunnableGraph } from "./runnable-graph.js";

/** One graph of this process: what it is, and how to make it. */
export interface RegisteredGraph {
  readonly descriptor: GraphDescriptor;
  /** Called once; the graph it gives is shared, and bound anew for every run. */
  readonly create: (opening: GraphOpening) => RunnableGraph | Promise<RunnableGraph>;
}

/** Graphs handed over in code. A name given twice is refused: one of the two would never run. */
export function graphRegistry(graphs: readonly RegisteredGraph[]): GraphSource {
  const byName = new Map(graphs.map((graph) => [graph.descriptor.graphName, graph]));
  if (byName.size !== graphs.length) {
    const names = graphs.map((graph) => graph.descriptor.graphName);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    throw new ThroughlineError("invalid_input", `Two graphs are called "${twice}". Rename one of them.`);
  }
  const made = new Map<string, Promise<RunnableGraph>>();

  return {
    list: async () => graphs.map((graph) => graph.descriptor),
    async open(graphName, opening) {
      const registered = byName.get(graphName);
      if (!registered) return undefined;
      const graph = made.get(graphName) ?? make(registered, opening);
      made.set(graphName, graph);
      // A factory that failed is asked again next time: what it lacked may be there by then.
      graph.catch(() => made.delete(graphName));
      return graph;
    },
  };
}

async function make(registered: RegisteredGraph, opening: GraphOpening): Promise<RunnableGraph> {
  return registered.create(opening);
}
