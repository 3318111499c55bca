import { START } from "@langchain/langgraph";
import { getInputTypeSchema, getOutputTypeSchema } from "@langchain/langgraph/zod/schema";
import {
  type AgentCapability,
  type GraphDescriptor,
  type JsonObject,
  type SubgraphShape,
  toGraphId,
} from "@throughline/ai-core";
import { isJsonObject, read, readString, toPlainObject } from "@throughline/coerce";
import { contextSchemaOf } from "./context-schema.js";
import type { RunnableGraph } from "./runnable-graph.js";

/** What a configuration says of a graph. */
export interface GraphNotes {
  readonly graphName: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly commands?: readonly string[];
  readonly suggestions?: readonly string[];
  readonly capabilities?: readonly AgentCapability[];
  readonly hasScript?: boolean;
  /** The model of its runs that name none. */
  readonly model?: string | undefined;
  /** Keys of its configuration that its context schema does not show. */
  readonly contextKeys?: readonly string[];
  /** Keys of its subgraphs' final states, by the name of the node or subagent. */
  readonly subgraphs?: Readonly<Record<string, SubgraphShape>> | undefined;
  /** Keys of its output. Counts only for a graph of a LangGraph server, whose schema may not name them all. */
  readonly outputs?: readonly string[];
}

/** What can be said of a graph that brings no descriptor: its name, its schemas, and what its shape shows. */
export function describeLoadedGraph(notes: GraphNotes, graph: RunnableGraph | undefined): GraphDescriptor {
  const { graphName, name = graphName, description, commands = [], suggestions = [] } = notes;
  const { capabilities = [], hasScript = false, model, contextKeys = [] } = notes;
  const shown = [...(graph ? capabilitiesOf(graph) : []), ...(commands.length > 0 ? COMMANDED : [])];
  return {
    graphId: toGraphId(graphName),
    graphName,
    name,
    description: description ?? readString(graph, "description") ?? "",
    capabilities: [...new Set([...shown, ...capabilities])],
    commands: [...commands],
    suggestions: [...suggestions],
    ...(hasScript && { hasScript }),
    inputSchema: graph ? schemaOf(graph, inputKeys(graph), getInputTypeSchema) : {},
    outputSchema: graph ? schemaOf(graph, graph.outputChannels, getOutputTypeSchema) : {},
    ...(graph && { contextSchema: contextSchemaOf(graph, contextKeys) }),
    ...(model !== undefined && { model }),
    ...(notes.subgraphs && { subgraphs: { ...notes.subgraphs } }),
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

/** Keys that a graph takes as input. A graph of `StateGraph` has one channel for the whole input, and its builder names the keys. */
function inputKeys(graph: RunnableGraph): RunnableGraph["outputChannels"] {
  const declared = read(read(graph, "builder"), "_inputDefinition");
  if (typeof declared === "object" && declared !== null) return Object.keys(declared);
  return [graph.inputChannels].flat().includes(START) ? graph.streamChannelsList : graph.inputChannels;
}

/**
 * A graph's channels as a JSON Schema. The compiled graph's channels decide which keys there are: LangGraph leaves a channel out of
 * its schema whenever the channel's own schema can't be written as JSON Schema, as those of files and todos of stock middleware can't.
 */
function schemaOf(
  graph: RunnableGraph,
  channels: RunnableGraph["outputChannels"],
  typesOf: (graph: unknown) => unknown,
): JsonObject {
  const keys = [channels]
    .flat()
    .map(String)
    .filter((key) => !key.startsWith("__"));
  const untyped = Object.fromEntries(keys.map((key) => [key, {}]));
  const { properties, additionalProperties: _, ...schema } = typedSchema(graph, typesOf);
  return {
    type: "object",
    ...schema,
    properties: { ...untyped, ...(isJsonObject(properties) && properties) },
  };
}

/** Annotations carry no types at run time: then only the names of the state's keys are known. */
function typedSchema(graph: RunnableGraph, typesOf: (graph: unknown) => unknown): JsonObject {
  try {
    return toPlainObject(typesOf(graph) ?? {});
  } catch {
    return {};
  }
}
