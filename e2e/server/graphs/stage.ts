import { graphDescriptorSchema, toGraphId } from "@throughline/ai-core";
import { graphRegistry, type RegisteredGraph, type RunnableGraph } from "@throughline/graph-executor";
import { describeGraph, envKeyResolver, LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { careful, nest, pair } from "./askers.js";
import { talker } from "./talker.js";

const CONVERSATION = { type: "object", properties: { messages: {} } };

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

/** The six graphs, and those that do what a test says. */
export default graphRegistry([
  ...LANGGRAPH_CATALOG.map((definition) => ({
    descriptor: describeGraph(definition),
    create: () => definition.create({ keys: envKeyResolver({}) }),
  })),
  registered("talker", talker),
  registered("pair", pair),
  registered("nest", nest),
  registered("careful", careful),
]);
