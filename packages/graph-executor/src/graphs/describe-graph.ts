import { getInputTypeSchema, getOutputTypeSchema } from "@langchain/langgraph/zod/schema";
import { type AgentCapability, type GraphDescriptor, type JsonObject, toGraphId } from "@throughline/ai-core";
import { readString, toPlainObject } from "@throughline/coerce";
import type { RunnableGraph } from "./runnable-graph.js";

/** What a configuration says of a graph. */
export interface GraphNotes {
  readonly graphName: string;
  readonly description?: string | undefined;
  readonly commands?: readonly string[];
  readonly suggestions?: readonly string[];
}

/** What can be said of a graph that brings no descriptor: its name, its schemas, and what its shape shows. */
export function describeLoadedGraph(
  { graphName, description, commands = [], suggestions = [] }: GraphNotes,
  graph: RunnableGraph | undefined,
): GraphDescriptor {
  return {
    graphId: toGraphId(graphName),
    graphName,
    name: graphName,
    description: description ?? readString(graph, "description") ?? "",
    capabilities: [...(graph ? capabilitiesOf(graph) : []), ...(commands.length > 0 ? COMMANDED : [])],
    commands: [...commands],
    suggestions: [...suggestions],
    inputSchema: graph ? schemaOf(graph, getInputTypeSchema) : {},
    outputSchema: graph ? schemaOf(graph, getOutputTypeSchema) : {},
    subgraphSchemas: {},
  };
}

const COMMANDED: readonly AgentCapability[] = ["commands"];

function capabilitiesOf(graph: RunnableGraph): AgentCapability[] {
  const capabilities: AgentCapability[] = [];
  if ("messages" in graph.channels) capabilities.push("chat");
  if ("tools" in graph.nodes) capabilities.push("tools");
  if (!graph.getSubgraphs().next().done) capabilities.push("subgraphs");
  return capabilities;
}

/** Annotations carry no types at run time: then only the names of the state's keys are known. */
function schemaOf(graph: RunnableGraph, read: (graph: unknown) => unknown): JsonObject {
  const keys = graph.streamChannelsList.filter((key) => typeof key === "string" && !key.startsWith("__"));
  const untyped = { type: "object", properties: Object.fromEntries(keys.map((key) => [String(key), {}])) };
  try {
    const schema = read(graph);
    return schema === undefined ? untyped : toPlainObject(schema);
  } catch {
    return untyped;
  }
}
