import { existsSync } from "node:fs";
import { createRequire, register } from "node:module";
import { pathToFileURL } from "node:url";
import { type GraphDescriptor, ThroughlineError } from "@throughline/ai-core";
import { read, readString } from "@throughline/coerce";
import { register as registerCommonJs } from "tsx/cjs/api";
import { register as registerModules } from "tsx/esm/api";
import {
  describeLoadedGraph,
  type GraphOpening,
  type GraphSource,
  isRunnableGraph,
  type RunnableGraph,
  toRunnableGraph,
} from "./graph.js";
import { type GraphSpec, readLanggraphJson } from "./langgraph-json.js";

interface LoadedGraph {
  readonly descriptor: GraphDescriptor;
  readonly open: (opening: GraphOpening) => Promise<RunnableGraph>;
}

export interface LoadOptions {
  /** Reloads files that were imported before. */
  readonly again?: boolean;
  /** Receives a sentence for each part of the configuration that has no effect. */
  readonly onWarning?: (sentence: string) => void;
}

/**
 * The graphs of a user's project, by its `langgraph.json`: TypeScript or JavaScript, compiled graphs, builders,
 * agents, and factories, which are called for each run with its config as LangGraph's own server calls them. Everything
 * is imported at once, so that a mistake shows when a process starts and not in the first run.
 */
export async function loadProjectGraphs(
  configPath: string,
  { again = false, onWarning = () => {} }: LoadOptions = {},
): Promise<GraphSource> {
  const { graphs, env, warnings, refusal } = readLanggraphJson(configPath);
  if (refusal !== undefined) throw new ThroughlineError("invalid_input", refusal);
  warnings.forEach(onWarning);
  giveVariables(env);
  const edition = again ? nextEdition() : undefined;
  const loaded = new Map<string, LoadedGraph>();
  for (const spec of graphs) loaded.set(spec.graphName, await loadGraph(spec, edition));
  return {
    list: async () => [...loaded.values()].map((graph) => graph.descriptor),
    open: async (graphName, opening) => loaded.get(graphName)?.open(opening),
  };
}

/** Variables that a project's file set in this process, and may therefore change. */
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
  refuseUnservable(spec);
  const exported = await importExport(spec.file, spec.exportName, edition);
  if (typeof exported !== "function") {
    const graph = required(spec, await exported);
    return {
      descriptor: describeLoadedGraph(spec, graph),
      open: async () => graph,
    };
  }
  // A factory may need what only a run has; then it is described by its name alone.
  const sample = await callFactory(spec, exported, { configurable: {} }).catch(() => undefined);
  return {
    descriptor: describeLoadedGraph(spec, sample === undefined ? undefined : required(spec, sample)),
    open: async (opening) => required(spec, await callFactory(spec, exported, opening)),
  };
}

/**
 * Names what no import would: a graph in Python, and a LangGraph before 1.0, whose graphs either are not recognised or load and
 * lose their interrupts.
 */
function refuseUnservable({ file }: GraphSpec): void {
  if (file.endsWith(".py")) {
    throw new ThroughlineError(
      "invalid_input",
      `${file}: is a Python graph, and this process runs JavaScript and TypeScript. Start it with a LangGraph server, and set LANGGRAPH_DEV_URL or LANGGRAPH_SERVER_URL to its address.`,
    );
  }
  const version = langgraphVersion(file);
  if (version === undefined || Number.parseInt(version, 10) >= 1) return;
  throw new ThroughlineError(
    "invalid_input",
    `${file}: is made with LangGraph ${version}, which is too old. Install version 1 or newer: npm install @langchain/langgraph@1 @langchain/core@1`,
  );
}

/** The version of the LangGraph copy that a file of the project imports; `undefined` where it finds none. */
function langgraphVersion(file: string): string | undefined {
  try {
    return readString(createRequire(file)("@langchain/langgraph/package.json"), "version");
  } catch {
    return undefined;
  }
}

/** Called as LangGraph's own server calls factories: with the run's config, and what the graph is wanted for. */
async function callFactory(
  { config }: GraphSpec,
  factory: CallableFunction,
  { configurable }: GraphOpening,
): Promise<unknown> {
  const runtime = { accessContext: "threads.create_run", executionRuntime: { context: undefined } };
  return Reflect.apply(factory, undefined, [
    { configurable: { ...config.configurable, ...configurable } },
    runtime,
  ]);
}

function required(spec: GraphSpec, value: unknown): RunnableGraph {
  const graph = toRunnableGraph(value);
  if (graph) return configured(spec, graph);
  throw new ThroughlineError(
    "invalid_input",
    `${spec.file}: "${spec.exportName}" is no graph. Export a compiled graph, a StateGraph, or a function that gives one.`,
  );
}

/** The graph with what its entry in `langgraph.json` configures, as its author would bind it. A run's own config wins. */
function configured({ config }: GraphSpec, graph: RunnableGraph): RunnableGraph {
  const { recursion_limit, tags, metadata, configurable } = config;
  if (Object.keys(config).length === 0) return graph;
  const bound: unknown = graph.withConfig({
    ...(recursion_limit !== undefined && { recursionLimit: recursion_limit }),
    ...(tags && { tags: [...tags] }),
    ...(metadata && { metadata }),
    ...(configurable && { configurable, context: configurable }),
  });
  return isRunnableGraph(bound) ? bound : graph;
}

let typescriptLoads = false;

/**
 * From here on this process imports TypeScript. Not scoped to one import, as tsx could: a scope would load a second copy
 * of LangChain for each project, with classes of its own, at half a second and some 60 MB each.
 */
function loadTypescript(): void {
  if (typescriptLoads) return;
  typescriptLoads = true;
  registerCommonJs();
  registerModules();
}

/**
 * Imports one export of a TypeScript or JavaScript file of a project. Failures name file and export. With an `edition` the file and
 * what it imports of the project are read again, once per edition.
 */
async function importExport(file: string, exportName: string, edition?: number): Promise<unknown> {
  if (!existsSync(file)) throw new ThroughlineError("invalid_input", `${file}: there is no such file.`);
  if (/\.[cm]?tsx?$/.test(file)) loadTypescript();
  const module = await importFile(
    edition === undefined ? pathToFileURL(file) : editionUrl(file, edition),
    file,
  );
  // A file that Node takes for CommonJS has its exports under `default`.
  const exported = read(module, exportName) ?? read(read(module, "default"), exportName);
  if (exported !== undefined && exported !== null) return exported;
  const names = Object.keys(module).join(", ") || "nothing";
  throw new ThroughlineError("invalid_input", `${file}: has no export "${exportName}". It exports ${names}.`);
}

async function importFile(url: URL, file: string): Promise<object> {
  try {
    const module: unknown = await import(/* @vite-ignore */ url.href);
    return typeof module === "object" && module !== null ? module : {};
  } catch (error) {
    throw new ThroughlineError(
      "invalid_input",
      `${file}: could not be imported: ${error instanceof Error ? error.message : error}`,
      {
        cause: error,
      },
    );
  }
}

const require = createRequire(import.meta.url);
let editions = 0;

/**
 * Begins another reading of a project's files. Node imports a URL once per process, so each edition's URLs end in its number;
 * dependencies keep theirs, or every edition would bring a LangChain of its own. What editions before it loaded stays in
 * memory: this is for a person who edits, not for a server that runs for months.
 */
function nextEdition(): number {
  if (editions === 0) {
    register(`data:text/javascript,${encodeURIComponent(`export ${resolve.toString()}`)}`);
  }
  editions += 1;
  // CommonJS files are cached by path, regardless of the URL.
  for (const file of Object.keys(require.cache)) {
    if (!/[\\/]node_modules[\\/]/.test(file)) delete require.cache[file];
  }
  return editions;
}

function editionUrl(file: string, edition: number): URL {
  const url = pathToFileURL(file);
  url.searchParams.set("edition", String(edition));
  return url;
}

interface Resolved {
  readonly url: string;
}

/** Runs in the thread of Node's loader, so it may use nothing of this file. What an edition's file imports is of its edition. */
async function resolve(
  specifier: string,
  context: { readonly parentURL?: string },
  next: (specifier: string, context: object) => Promise<Resolved>,
): Promise<Resolved> {
  const found = await next(specifier, context);
  const [, edition] = /[?&]edition=(\d+)/.exec(context.parentURL ?? "") ?? [];
  const isOurs = found.url.startsWith("file:") && !found.url.includes("/node_modules/");
  if (edition === undefined || !isOurs || found.url.includes("edition=")) return found;
  return { ...found, url: `${found.url}${found.url.includes("?") ? "&" : "?"}edition=${edition}` };
}
