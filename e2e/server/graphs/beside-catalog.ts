import { graphDescriptorSchema, toGraphId } from "@throughline/ai-core";
import { graphRegistry, type RegisteredGraph, type RunnableGraph } from "@throughline/graph-executor";
import { describeGraph, envKeyResolver, LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";

const CONVERSATION = { type: "object", properties: { messages: {} } };

/** The six graphs, and beside them those that exist only to be tested, by name. */
export function besideCatalog(
  graphs: Readonly<Record<string, RunnableGraph>>,
): ReturnType<typeof graphRegistry> {
  return graphRegistry([
    ...LANGGRAPH_CATALOG.map((definition) => ({
      descriptor: describeGraph(definition),
      create: () => definition.create({ keys: envKeyResolver({}) }),
    })),
    ...Object.entries(graphs).map(([graphName, graph]) => registered(graphName, graph)),
  ]);
}

function registered(graphName: string, graph: RunnableGraph): RegisteredGraph {
  const descriptor = graphDescriptorSchema.parse({
    graphId: toGraphId(graphName),
    graphName,
    name: graphName,
    description: "Exists to be tested.",
    capabilities: ["chat"],
    commands: [],
    inputSchema: CONVERSATION,
    outputSchema: CONVERSATION,
    subgraphSchemas: {},
  });
  return { descriptor, create: () => graph };
}
