import type { GraphDescriptor, JsonObject } from "@throughline/ai-core";
import type { RunnableGraph } from "./runnable-graph.js";

/** Graphs by name, wherever they come from. */
export interface GraphSource {
  /** In the order people should see them. */
  list(): Promise<readonly GraphDescriptor[]>;
  /** The graph for one run or one reading, not yet bound to a saver; `undefined` when no graph has this name. */
  open(graphName: string, opening: GraphOpening): Promise<RunnableGraph | undefined>;
}

/** What a factory may build its graph from. */
export interface GraphOpening {
  readonly configurable: JsonObject;
}
