import type { AgentCatalogPort } from "@throughline/ai-core";
import type { GraphProvider } from "../provider/graph-provider.js";
import { createProviderTable } from "./provider-table.js";

/** All agents there are, in the order of their providers. STABLE_GRAPH_IDS (docs/requirements.md#dev-1): an id never says which backend runs it. */
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
