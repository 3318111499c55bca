import { type GraphDescriptor, providerVariables, ThroughlineError } from "@throughline/ai-core";
import { type InstalledFetch, installFetch } from "@throughline/billing";
import {
  type Backend,
  createLangGraphDevProvider,
  createLangGraphServerAdapter,
  type GraphNotes,
  type GraphProvider,
  type GraphSource,
} from "@throughline/graph-executor";
import { bindCallContexts } from "@throughline/langgraph-models";
import { type CallerResolver, devCaller, guardAddress } from "../accounts/callers.js";
import { jwtCaller } from "../accounts/jwt-caller.js";
import { type Listening, listen } from "../http/listen.js";
import { createLogger, type Logger, logEvents } from "../operations/logging.js";
import { createMetrics, type Metrics } from "../operations/metrics.js";
import type { ServerConfig } from "../settings/server-config.js";
import { createHandler, type Handler } from "./create-handler.js";
import { createService, type Service, type ServiceOptions } from "./create-service.js";
import { type OpenDatabase, openDatabase, startFailure } from "./database.js";

export interface RunningServer {
  readonly url: string;
  /** Ids of its agents, in display order. */
  readonly agents: readonly string[];
  /** Counts an error that reached the process itself. An attributed one belonged to one run. */
  strayError(isAttributed: boolean): void;
  /** Drains: runs end or are handed over, and every stream is notified. Idempotent: the first call sets how long runs may take. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

export interface ServeOptions {
  readonly logger?: Logger;
  /** Receives lines about the progress of the start. */
  readonly onProgress?: (line: string) => void;
  readonly version?: string;
  /** The process's `fetch`, where it was replaced before graphs were loaded. */
  readonly fetch?: InstalledFetch | undefined;
  /** Merges the metrics of other processes into this process's. */
  readonly shareMetrics?: (own: Metrics) => Metrics;
  /** Notes of a project's `langgraph.json` on the graphs that a LangGraph server runs. */
  readonly declared?: readonly GraphNotes[] | undefined;
  /** Options that are no setting: the graphs to run in this process, and the time until a dead instance's runs are recovered. */
  readonly service?: Partial<
    Pick<ServiceOptions, "graphs" | "leaseMs" | "reapEveryMs" | "maxCrashes" | "instance" | "crons">
  >;
}

/** Starts the whole service: database, graphs, drivers, HTTP. If a step fails, the started parts are closed. */
export async function startServer(config: ServerConfig, options: ServeOptions = {}): Promise<RunningServer> {
  const resolver = resolverOf(config);
  guardAddress(resolver, config.host);
  // Checked before anything is started: without graphs there is nothing to serve.
  const logger = options.logger ?? createLogger({ level: config.logLevel });
  const graphs = withCommands(
    options.service?.graphs ??
      serverGraphs(config.backend, options.declared, (text) => logger.warn({}, text)),
    config.agentCommands,
  );
  const own = createMetrics();
  const metrics = options.shareMetrics?.(own) ?? own;
  const database = await openDatabase(config, options.onProgress);
  let service: Service | undefined;
  const installed = config.billing && (options.fetch ?? meterProcess(config.billing.baseUrl));
  try {
    service = await createService({
      store: {
        kind: "postgres",
        databaseUrl: database.url,
        databaseDirectUrl: config.databaseDirectUrl,
        ...(config.redisUrl !== undefined && { redisUrl: config.redisUrl }),
        ...(config.attachmentsDir !== undefined && { attachmentsDir: config.attachmentsDir }),
      },
      ...(config.defaultModel !== undefined && { defaultModel: config.defaultModel }),
      ...(config.billing && { billing: config.billing }),
      ...(installed && { send: installed.plain }),
      leaseMs: config.leaseMs,
      maxDriven: config.maxDriven,
      showGraphErrors: showsGraphErrors(config),
      roles: config.roles,
      retention: config.retention,
      audit: config.audit,
      ...options.service,
      graphs,
      attachmentLimits: config.attachmentLimits,
      transferLimits: config.transferLimits,
      unnamedMs: config.unnamedMs,
      mediaOrigins: config.mediaOrigins,
      ...(config.linkSecret !== undefined && { linkSecret: config.linkSecret }),
      crons: { maxCrons: config.maxCrons, ...options.service?.crons },
      limitsOf: () => config.limits,
      observer: logEvents({ metrics, logger }),
    });
    if (service.billing.fetch) installed?.use(service.billing.fetch);
    const handler = createHandler({
      service,
      caller: resolver,
      hasApi: config.roles.includes("api"),
      corsOrigins: config.corsOrigins,
      limits: config.limits,
      allowDebug: config.signIn.kind === "dev",
      publicUrl: config.publicUrl,
      defaultGraph: config.defaultGraph,
      consoleUrl: config.consoleUrl,
      logger,
      metrics,
      ...(options.version !== undefined && { version: options.version }),
    });
    const agents = (await service.agents.listAgents()).map(({ graphId }) => graphId);
    const listening = await listen(handler, config);
    const close = closeOnce({
      listening,
      service,
      handler,
      metrics,
      database,
      drainMs: config.drainMs,
      installed,
    });
    return { url: listening.url, agents, strayError: metrics.strayError, close };
  } catch (error) {
    await service?.close({ drainMs: 0 });
    installed?.remove();
    metrics.close();
    await database.stop();
    throw config.databaseUrl === undefined ? error : startFailure(error);
  }
}

/** Routes the graphs' model calls to LiteLLM and meters them. Call it before graphs are loaded. */
export function meterProcess(litellmBaseUrl: string): InstalledFetch {
  const { addresses, keys } = providerVariables(litellmBaseUrl);
  bindCallContexts();
  Object.assign(process.env, addresses);
  for (const [name, value] of Object.entries(keys)) process.env[name] ??= value;
  return installFetch(litellmBaseUrl);
}

interface Parts {
  readonly listening: Listening;
  readonly service: Service;
  readonly handler: Handler;
  readonly metrics: Metrics;
  readonly database: OpenDatabase;
  readonly drainMs: number;
  readonly installed: InstalledFetch | undefined;
}

/** Closes in this order: no new work, runs end or are handed over, streams are notified, connections close, the database stops. */
function closeOnce(parts: Parts): RunningServer["close"] {
  const { listening, service, handler, metrics, database } = parts;
  let closed: Promise<void> | undefined;
  async function close(drainMs: number): Promise<void> {
    handler.startClosing();
    listening.stopAccepting();
    await service.close({ drainMs });
    parts.installed?.remove();
    handler.close();
    await listening.finish();
    metrics.close();
    await database.stop();
  }
  return ({ drainMs = parts.drainMs } = {}) => {
    closed ??= close(drainMs);
    return closed;
  };
}

/** Whether callers see graph errors. With dev sign-in only this machine is served, so the reader is the graph's author. */
function showsGraphErrors({ showGraphErrors, signIn }: ServerConfig): boolean {
  return showGraphErrors === undefined ? signIn.kind === "dev" : showGraphErrors === "yes";
}

function resolverOf({ signIn, corsOrigins }: ServerConfig): CallerResolver {
  return signIn.kind === "dev" ? devCaller({ origins: corsOrigins }) : jwtCaller(signIn);
}

/** Connects to the graphs of a LangGraph server. Graphs of this process are loaded by the caller. */
function serverGraphs(
  backend: Backend,
  declared: readonly GraphNotes[] = [],
  warn: (message: string) => void,
): GraphProvider {
  switch (backend.kind) {
    case "dev":
      return createLangGraphDevProvider({ url: backend.url, declared, warn });
    case "server": {
      const { url, apiKey } = backend;
      return createLangGraphServerAdapter({ url, declared, warn, ...(apiKey !== undefined && { apiKey }) });
    }
    case "inproc":
      throw noGraphs();
  }
}

/** Adds the commands of a setting to those that graphs declare, wherever they run. */
function withCommands<Graphs extends GraphSource | GraphProvider>(
  graphs: Graphs,
  byGraph: Readonly<Record<string, readonly string[]>>,
): Graphs {
  if (Object.keys(byGraph).length === 0) return graphs;
  const declare = (agent: GraphDescriptor): GraphDescriptor => {
    const more = byGraph[agent.graphName];
    if (!more) return agent;
    return {
      ...agent,
      commands: [...new Set([...agent.commands, ...more])],
      capabilities: [...new Set([...agent.capabilities, "commands" as const])],
    };
  };
  if (!("providerId" in graphs)) {
    return { ...graphs, list: async () => (await graphs.list()).map(declare) };
  }
  return {
    ...graphs,
    listAgents: async () => (await graphs.listAgents()).map(declare),
    async getAgent(graphId: string) {
      const agent = await graphs.getAgent(graphId);
      return agent && declare(agent);
    },
  };
}

/** The error of a start with neither a project nor a LangGraph server. */
export function noGraphs(): ThroughlineError {
  return new ThroughlineError(
    "invalid_input",
    "No graphs to serve: there is no langgraph.json here. Name one with --config or THROUGHLINE_CONFIG, " +
      "make a project with npm create throughline, or name a LangGraph server with LANGGRAPH_SERVER_URL.",
  );
}
