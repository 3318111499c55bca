import { graphDescriptorSchema, toGraphId } from "@throughline/ai-core";
import { graphRegistry, type RegisteredGraph, type RunnableGraph } from "@throughline/graph-executor";
import { describeGraph, envKeyResolver, LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { talker } from "../../server/graphs/talker.js";
import { errand } from "./errand.js";

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

/** The six graphs, one that talks as long as it is told to, and one that needs its page. */
export default graphRegistry([
  ...LANGGRAPH_CATALOG.map((definition) => ({
    descriptor: describeGraph(definition),
    create: () => definition.create({ keys: envKeyResolver({}) }),
  })),
  registered("talker", talker),
  registered("errand", errand),
]);
