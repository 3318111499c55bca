import { GRAPH_PROVIDER_ID, ThroughlineError } from "@throughline/ai-core";
import type { GraphProvider } from "../provider/graph-provider.js";

export interface ProviderTable {
  readonly providers: readonly GraphProvider[];
  /** The provider that owns a graph id (`{providerId}:{name}`; a bare name is LangGraph's). Throws `not_found`. */
  of(graphId: string): GraphProvider;
}

/** MUTUAL_EXCLUSION: one provider per id, since two would both claim the same stable graph ids. */
export function createProviderTable(providers: readonly GraphProvider[]): ProviderTable {
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
