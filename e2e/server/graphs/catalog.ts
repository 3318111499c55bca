import { graphRegistry } from "@throughline/graph-executor";
import { describeGraph, LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { envKeyResolver } from "@throughline/langgraph-models";

/** The demo graphs. */
export default graphRegistry(
  LANGGRAPH_CATALOG.map((definition) => ({
    descriptor: describeGraph(definition),
    create: () => definition.create({ keys: envKeyResolver() }),
  })),
);
