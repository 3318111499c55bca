import type { KeyResolver } from "@throughline/ai-core";
import { type GraphSource, graphRegistry } from "@throughline/graph-executor";
import { describeGraph, LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { envKeyResolver } from "@throughline/langgraph-models";

/** The demo graphs, in this process. */
export function catalogGraphs(keys: KeyResolver = envKeyResolver()): GraphSource {
  return graphRegistry(
    LANGGRAPH_CATALOG.map((definition) => ({
      descriptor: describeGraph(definition),
      create: () => definition.create({ keys }),
    })),
  );
}
