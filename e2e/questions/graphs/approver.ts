import { LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { envKeyResolver } from "@throughline/langgraph-models";

/** The agent that comes along, for a LangGraph server that brings its own checkpointer. */
export function approver() {
  const definition = LANGGRAPH_CATALOG.find(({ graphName }) => graphName === "approver");
  return definition?.create({ keys: envKeyResolver({}) });
}
