// First, because models keep the `fetch` they are made with.
import "@throughline/langgraph-models/labelled";
import { envKeyResolver } from "@throughline/langgraph-models";
import { approverDefinition } from "./graphs/approver/definition.js";
import { chatDefinition } from "./graphs/chat/definition.js";
import type { GraphDefinition, RunnableGraph } from "./graphs/graph-definition.js";
import { poetDefinition } from "./graphs/poet/definition.js";
import { pondererDefinition } from "./graphs/ponderer/definition.js";
import { researcherDefinition } from "./graphs/researcher/definition.js";
import { sentinelDefinition } from "./graphs/sentinel/definition.js";
import { travelDefinition } from "./graphs/travel/definition.js";

/**
 * What `langgraph.json` points at: one factory per graph, called by the LangGraph server for each run. The server brings
 * its own checkpointer and store.
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
