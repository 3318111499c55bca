import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import type { GraphDeps } from "./graph-definition.js";

/** The compile options a graph takes from its process; absent ones stay absent, so a server can set its own. */
export function persistence(deps: GraphDeps): { checkpointer?: BaseCheckpointSaver; store?: BaseStore } {
  return {
    ...(deps.checkpointer ? { checkpointer: deps.checkpointer } : {}),
    ...(deps.store ? { store: deps.store } : {}),
  };
}
