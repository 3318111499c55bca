import { graphDescriptorSchema, type JsonObject, toGraphId } from "@throughline/ai-core";
import { graphRegistry, type RegisteredGraph, type RunnableGraph } from "@throughline/graph-executor";
import { describeGraph, LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { envKeyResolver } from "@throughline/langgraph-models";

const CONVERSATION = { type: "object", properties: { messages: {} } };

/**
 * The catalog's graphs, and beside them those that exist only to be tested, by name. `states`: what a graph publishes of its state
 * beside the messages, as properties of a schema.
 */
export function besideCatalog(
  graphs: Readonly<Record<string, RunnableGraph>>,
  states: Readonly<Record<string, JsonObject>> = {},
): ReturnType<typeof graphRegistry> {
  return graphRegistry([
    ...LANGGRAPH_CATALOG.map((definition) => ({
      descriptor: describeGraph(definition),
      create: () => definition.create({ keys: envKeyResolver({}) }),
    })),
    ...Object.entries(graphs).map(([graphName, graph]) => registered(graphName, graph, states[graphName])),
  ]);
}

function registered(graphName: string, graph: RunnableGraph, state: JsonObject = {}): RegisteredGraph {
  const descriptor = graphDescriptorSchema.parse({
    graphId: toGraphId(graphName),
    graphName,
    name: graphName,
    description: "Exists to be tested.",
    capabilities: ["chat"],
    commands: [],
    inputSchema: CONVERSATION,
    outputSchema: { ...CONVERSATION, properties: { ...CONVERSATION.properties, ...state } },
  });
  return { descriptor, create: () => graph };
}
