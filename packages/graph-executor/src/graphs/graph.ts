import { createHash } from "node:crypto";
import { START } from "@langchain/langgraph";
import type { Pregel } from "@langchain/langgraph/pregel";
import {
  getConfigTypeSchema,
  getInputTypeSchema,
  getOutputTypeSchema,
} from "@langchain/langgraph/zod/schema";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import {
  type AgentCapability,
  type GraphDescriptor,
  type JsonObject,
  type SubgraphShape,
  ThroughlineError,
  toGraphId,
} from "@throughline/ai-core";
import { isJsonObject, read, readString, toPlainObject } from "@throughline/coerce";

/** A compiled graph, whatever its state is. */
// biome-ignore-start lint/suspicious/noExplicitAny: Pregel is invariant in its type parameters; callers never name them.
export type RunnableGraph = Pregel<any, any, any, any, any, any, any, any, any, any, any>;
// biome-ignore-end lint/suspicious/noExplicitAny: the line above is the only use.

/** By mark and not by class: a project's own copy of LangGraph makes graphs that are no instance of ours. */
export function isRunnableGraph(value: unknown): value is RunnableGraph {
  return read(value, "lg_is_pregel") === true && typeof read(value, "stream") === "function";
}

/**
 * Reads an export as a graph: a compiled one, a builder that still has to be compiled, or an agent of `createAgent`,
 * which holds its graph inside. `undefined` for anything else.
 */
export function toRunnableGraph(exported: unknown): RunnableGraph | undefined {
  const inner = read(exported, "graph");
  if (isRunnableGraph(inner)) return inner;
  if (isRunnableGraph(exported)) return exported;
  const compile = read(exported, "compile");
  if (typeof exported !== "object" || exported === null || typeof compile !== "function") return undefined;
  const compiled: unknown = Reflect.apply(compile, exported, []);
  return isRunnableGraph(compiled) ? compiled : undefined;
}

export interface GraphPersistence {
  readonly checkpointer: BaseCheckpointSaver;
  readonly store?: BaseStore;
}

/**
 * A copy of a graph with a saver and a store of its own; the original, which other runs share, stays as it was. Made as
 * LangGraph's `withConfig` makes copies, by the graph's own constructor, with two differences: `channels` is copied and
 * validation is off, because both constructor and validation write into what they were given.
 */
export function bindGraph(graph: RunnableGraph, { checkpointer, store }: GraphPersistence): RunnableGraph {
  const copy: unknown = Reflect.construct(graph.constructor, [
    {
      ...graph,
      channels: { ...graph.channels },
      autoValidate: false,
      checkpointer,
      store: store ?? graph.store,
    },
  ]);
  if (!isRunnableGraph(copy)) {
    throw new ThroughlineError("internal", `The graph "${graph.getName()}" can't be given a checkpointer.`);
  }
  return copy;
}

const known = new WeakMap<RunnableGraph, string>();

/** A short text that is another one when a graph, or one inside it, has other nodes, other channels or other kinds of them. */
export function graphShape(graph: RunnableGraph): string {
  const shape = known.get(graph) ?? shapeOf(graph);
  known.set(graph, shape);
  return shape;
}

function shapeOf(graph: RunnableGraph): string {
  const hash = createHash("sha1").update(JSON.stringify(partsOf(graph)));
  for (const [name, inner] of graph.getSubgraphs(undefined, true)) {
    hash.update(JSON.stringify([name, partsOf(inner)]));
  }
  return hash.digest("base64url").slice(0, 12);
}

function partsOf({ nodes, channels }: Pick<RunnableGraph, "nodes" | "channels">): readonly unknown[] {
  const kinds = Object.entries(channels).map(([name, channel]) => [
    name,
    readString(channel, "lc_graph_name"),
  ]);
  return [Object.keys(nodes).sort(), kinds.sort()];
}

/** A configuration's notes about a graph. */
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

/** Derives the descriptor of a graph that brings none: its name, its schemas, and the capabilities its shape shows. */
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

/** Graphs by name, wherever they come from. */
export interface GraphSource {
  /** In the order people should see them. */
  list(): Promise<readonly GraphDescriptor[]>;
  /** The graph for one run or one reading, not yet bound to a saver; `undefined` when no graph has this name. */
  open(graphName: string, opening: GraphOpening): Promise<RunnableGraph | undefined>;
}

/** The argument of a graph factory. */
export interface GraphOpening {
  readonly configurable: JsonObject;
}

/** One graph of this process: its descriptor and its factory. */
export interface RegisteredGraph {
  readonly descriptor: GraphDescriptor;
  /** Called once; the graph it returns is shared, and bound again for every run. */
  readonly create: (opening: GraphOpening) => RunnableGraph | Promise<RunnableGraph>;
}

/** Graphs handed over in code. A name given twice is refused: one of the two would never run. */
export function graphRegistry(graphs: readonly RegisteredGraph[]): GraphSource {
  const byName = new Map(graphs.map((graph) => [graph.descriptor.graphName, graph]));
  if (byName.size !== graphs.length) {
    const names = graphs.map((graph) => graph.descriptor.graphName);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    throw new ThroughlineError("invalid_input", `Two graphs are called "${twice}". Rename one of them.`);
  }
  const made = new Map<string, Promise<RunnableGraph>>();

  return {
    list: async () => graphs.map((graph) => graph.descriptor),
    async open(graphName, opening) {
      const registered = byName.get(graphName);
      if (!registered) return undefined;
      const graph = made.get(graphName) ?? make(registered, opening);
      made.set(graphName, graph);
      // A factory that failed is called again next time: what it lacked may be there by then.
      graph.catch(() => made.delete(graphName));
      return graph;
    },
  };
}

async function make(registered: RegisteredGraph, opening: GraphOpening): Promise<RunnableGraph> {
  return registered.create(opening);
}

/**
 * The keys that a graph declares by a zod context schema; `undefined` where it has none. LangGraph drops a schema made with
 * `Annotation.Root` when the graph is built, so its keys can't be read here.
 */
export function declaredContextKeys(graph: RunnableGraph): readonly string[] | undefined {
  const schema = read(read(graph, "builder"), "_configRuntimeSchema");
  if (schema === undefined || schema === null) return undefined;
  const shape =
    read(schema, "shape") ?? read(read(schema, "def"), "shape") ?? read(read(schema, "_def"), "shape");
  const fields: unknown = typeof shape === "function" ? Reflect.apply(shape, schema, []) : shape;
  return typeof fields === "object" && fields !== null ? Object.keys(fields) : [];
}

/**
 * A graph's context schema as JSON Schema: its own keys, and those named in addition. Every key is there, with no type where its
 * zod can't be rendered.
 */
function contextSchemaOf(graph: RunnableGraph, named: readonly string[] = []): JsonObject {
  const keys = [...(declaredContextKeys(graph) ?? []), ...named];
  const rendered = renderedSchema(graph);
  const properties = toPlainObject(rendered.properties ?? {});
  return {
    ...rendered,
    type: "object",
    properties: { ...Object.fromEntries(keys.map((key) => [key, {}])), ...properties },
  };
}

function renderedSchema(graph: RunnableGraph): JsonObject {
  try {
    const schema: unknown = getConfigTypeSchema(graph);
    return schema === undefined ? {} : toPlainObject(schema);
  } catch {
    return {};
  }
}
