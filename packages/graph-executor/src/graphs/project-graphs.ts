import { type GraphDescriptor, ThroughlineError } from "@throughline/ai-core";
import { describeLoadedGraph } from "./describe-graph.js";
import type { GraphOpening, GraphSource } from "./graph-source.js";
import { importExport } from "./import-export.js";
import { type GraphSpec, readLanggraphJson } from "./langgraph-json.js";
import { nextEdition } from "./module-edition.js";
import { type RunnableGraph, toRunnableGraph } from "./runnable-graph.js";

interface LoadedGraph {
  readonly descriptor: GraphDescriptor;
  readonly open: (opening: GraphOpening) => Promise<RunnableGraph>;
}

/**
 * The graphs of a user's project, by its `langgraph.json`: TypeScript or JavaScript, compiled graphs, builders,
 * agents, and factories, which are called for each run with its config as LangGraph's own server calls them. Everything
 * is imported at once, so that a mistake shows when a process starts and not in the first run. `again`: as the files
 * are now, though they were imported before.
 */
export async function loadProjectGraphs(
  configPath: string,
  { again = false }: { readonly again?: boolean } = {},
): Promise<GraphSource> {
  const { graphs, env } = readLanggraphJson(configPath);
  giveVariables(env);
  const edition = again ? nextEdition() : undefined;
  const loaded = new Map<string, LoadedGraph>();
  for (const spec of graphs) loaded.set(spec.graphName, await loadGraph(spec, edition));
  return {
    list: async () => [...loaded.values()].map((graph) => graph.descriptor),
    open: async (graphName, opening) => loaded.get(graphName)?.open(opening),
  };
}

/** What a project's file gave to this process, and may therefore change. */
const given = new Map<string, string>();

function giveVariables(env: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(env)) {
    const held = process.env[key];
    if (held !== undefined && held !== given.get(key)) continue;
    process.env[key] = value;
    given.set(key, value);
  }
}

async function loadGraph(spec: GraphSpec, edition: number | undefined): Promise<LoadedGraph> {
  const exported = await importExport(spec.file, spec.exportName, edition);
  if (typeof exported !== "function") {
    const graph = required(spec, await exported);
    return {
      descriptor: describeLoadedGraph(spec, graph),
      open: async () => graph,
    };
  }
  // A factory may need what only a run has; then it is described by its name alone.
  const sample = await callFactory(exported, { configurable: {} }).catch(() => undefined);
  return {
    descriptor: describeLoadedGraph(spec, sample === undefined ? undefined : required(spec, sample)),
    open: async (opening) => required(spec, await callFactory(exported, opening)),
  };
}

/** Called as LangGraph's own server calls factories: with the run's config, and what the graph is wanted for. */
async function callFactory(factory: CallableFunction, { configurable }: GraphOpening): Promise<unknown> {
  const runtime = { accessContext: "threads.create_run", executionRuntime: { context: undefined } };
  return Reflect.apply(factory, undefined, [{ configurable: { ...configurable } }, runtime]);
}

function required(spec: GraphSpec, value: unknown): RunnableGraph {
  const graph = toRunnableGraph(value);
  if (graph) return graph;
  throw new ThroughlineError(
    "invalid_input",
    `${spec.file}: "${spec.exportName}" is no graph. Export a compiled graph, a StateGraph, or a function that gives one.`,
  );
}
