// First, because models retain the `fetch` they are made with.

import "@throughline/langgraph-models/labelled";
import { envKeyResolver } from "@throughline/langgraph-models";
import { approverDefinition } from "./approver/graph.js";
import { chatDefinition } from "./chat/graph.js";
import { poetDefinition } from "./poet.js";
import { pondererDefinition } from "./ponderer.js";
import { researcherDefinition } from "./researcher/graph.js";
import { sentinelDefinition } from "./sentinel/graph.js";
import type { GraphDefinition, RunnableGraph } from "./shared.js";
import { travelDefinition } from "./travel/graph.js";

/**
 * The exports that `langgraph.json` points at: one factory per graph, called by the LangGraph server for each run. The server
 * brings its own checkpointer and store.
 */
function served(definition: GraphDefinition): () => RunnableGraph {
  return () => definition.create({ keys: envKeyResolver() });
}

export const chat = served(chatDefinition);
export const poet = served(poetDefinition);
export const ponderer = served(pondererDefinition);
export const travel = served(travelDefinition);
export const researcher = served(researcherDefinition);
export const sentinel = served(sentinelDefinition);
export const approver = served(approverDefinition);
