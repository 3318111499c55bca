import {
  type AgentCatalogPort,
  type ExecutorType,
  type ExternalRunsPort,
  GRAPH_PROVIDER_ID,
  type GraphExecutorPort,
  type GraphStatePort,
  parseGraphId,
  ThroughlineError,
} from "@throughline/ai-core";

/** Everything one backend can do for its graphs: run them, read their state, and describe them. */
export interface GraphProvider extends GraphExecutorPort, GraphStatePort, AgentCatalogPort {
  /** `langgraph` for every LangGraph backend: STABLE_GRAPH_IDS makes them interchangeable. */
  readonly providerId: string;
  /** Present where others may run graphs too. */
  readonly foreignRuns?: ExternalRunsPort;
}

/** `not_found` for an agent that is not there, with the names of those that are. */
export function unknownAgent(
  graphId: string,
  available: readonly string[],
  cause?: unknown,
): ThroughlineError {
  const names = [...new Set(available)].join(", ") || "none";
  return new ThroughlineError(
    "not_found",
    `Unknown agent "${parseGraphId(graphId) ?? graphId}". Available: ${names}.`,
    { cause, details: { graphId, available: [...new Set(available)] } },
  );
}

export type Backend =
  | { readonly kind: "inproc" }
  | { readonly kind: "dev"; readonly url: string }
  | { readonly kind: "server"; readonly url: string; readonly apiKey?: string };

/** The backend that the environment selects: the same graph ids run in this process, on a dev server or on a server. */
export function selectBackend(env: Readonly<Record<string, string | undefined>>): Backend {
  const {
    LANGGRAPH_DEV_URL: devUrl,
    LANGGRAPH_SERVER_URL: serverUrl,
    LANGGRAPH_SERVER_API_KEY: apiKey,
  } = env;
  if (devUrl && serverUrl) {
    throw new ThroughlineError(
      "invalid_input",
      "LANGGRAPH_DEV_URL and LANGGRAPH_SERVER_URL are both set. Unset one: only one backend can run the graphs.",
    );
  }
  if (devUrl) return { kind: "dev", url: checkedUrl("LANGGRAPH_DEV_URL", devUrl) };
  if (!serverUrl) return { kind: "inproc" };
  return { kind: "server", url: checkedUrl("LANGGRAPH_SERVER_URL", serverUrl), ...(apiKey && { apiKey }) };
}

function checkedUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return text;
  throw new ThroughlineError(
    "invalid_input",
    `${name}: expected an http or https URL, as http://localhost:2024.`,
    { details: { field: name } },
  );
}

/** All agents, in the order of their providers. STABLE_GRAPH_IDS (docs/requirements.md#dev-1): an id never names a backend. */
export function createAggregatingAgentCatalog(providers: readonly GraphProvider[]): AgentCatalogPort {
  const table = createProviderTable(providers);
  return {
    async listAgents() {
      const lists = await Promise.all(table.providers.map((provider) => provider.listAgents()));
      return lists.flat();
    },
    async getAgent(graphId) {
      const owners = table.providers.map((provider) => provider.getAgent(graphId));
      return (await Promise.all(owners)).find((descriptor) => descriptor !== undefined);
    },
  };
}

/**
 * UNIFIED_EXECUTION_PORT (docs/requirements.md#server-2): one port over every provider; a graph id selects the one that runs it.
 */
export function createAggregatingGraphExecutor(
  providers: readonly GraphProvider[],
): GraphExecutorPort & GraphStatePort {
  const table = createProviderTable(providers);
  return {
    executorType: executorTypeOf(table),
    runGraph(request) {
      try {
        return table.of(request.graphId).runGraph(request);
      } catch (error) {
        const known =
          error instanceof ThroughlineError
            ? error
            : new ThroughlineError("internal", "The run could not be started.", { cause: error });
        return {
          stream: nothing(),
          final: Promise.resolve({ ok: false, status: "error", error: known, interrupts: [] }),
        };
      }
    },
    getState: async (thread, checkpointId) => table.of(thread.graphId).getState(thread, checkpointId),
    history: async (thread, page) => table.of(thread.graphId).history(thread, page),
    updateState: async (thread, update, fence) => table.of(thread.graphId).updateState(thread, update, fence),
    committedMessages: async (thread, messages) =>
      table.of(thread.graphId).committedMessages(thread, messages),
    copyThread: async (from, checkpointId, to, fence) =>
      table.of(from.graphId).copyThread(from, checkpointId, to, fence),
    deleteThread: async (thread, fence) => table.of(thread.graphId).deleteThread(thread, fence),
  };
}

/** The executor type of the aggregate as a whole; billing uses the run's own facts. */
function executorTypeOf({ providers }: ProviderTable): ExecutorType {
  return providers[0]?.executorType ?? "inproc";
}

async function* nothing(): AsyncGenerator<never> {}

interface ProviderTable {
  readonly providers: readonly GraphProvider[];
  /** The provider that owns a graph id (`{providerId}:{name}`; a bare name is LangGraph's). Throws `not_found`. */
  of(graphId: string): GraphProvider;
}

/** MUTUAL_EXCLUSION: one provider per id, since two would both claim the same stable graph ids. */
function createProviderTable(providers: readonly GraphProvider[]): ProviderTable {
  const byId = new Map<string, GraphProvider>();
  for (const provider of providers) {
    const other = byId.get(provider.providerId);
    if (other) {
      throw new ThroughlineError(
        "invalid_input",
        `Two providers are registered as "${provider.providerId}" (${other.executorType} and ${provider.executorType}). ` +
          "Register one: graphs run in this process, or on a dev server, or on a server.",
      );
    }
    byId.set(provider.providerId, provider);
  }
  if (byId.size === 0) throw new ThroughlineError("invalid_input", "No graph provider is registered.");

  return {
    providers,
    of(graphId) {
      const providerId = graphId.includes(":") ? graphId.slice(0, graphId.indexOf(":")) : GRAPH_PROVIDER_ID;
      const provider = byId.get(providerId);
      if (provider) return provider;
      const known = [...byId.keys()];
      throw new ThroughlineError(
        "not_found",
        `Unknown agent "${graphId}". Its id must begin with one of: ${known.map((id) => `${id}:`).join(", ")}.`,
        { details: { graphId, providers: known } },
      );
    },
  };
}
