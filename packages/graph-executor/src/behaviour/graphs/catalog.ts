import { LANGGRAPH_CATALOG, type RunnableGraph } from "@throughline/langgraph-graphs";
import { envKeyResolver } from "@throughline/langgraph-models";

/** The graphs people start with, as a project of its own would export them. */
function ofCatalog(graphName: string): () => RunnableGraph {
  const definition = LANGGRAPH_CATALOG.find((entry) => entry.graphName === graphName);
  if (!definition) throw new Error(`The catalogue has no graph "${graphName}".`);
  return () => definition.create({ keys: envKeyResolver() });
}

export const chat = ofCatalog("chat");
export const poet = ofCatalog("poet");
export const ponderer = ofCatalog("ponderer");
export const travel = ofCatalog("travel");
export const researcher = ofCatalog("researcher");
export const sentinel = ofCatalog("sentinel");
