"use client";

import { createContext, useContext, useMemo } from "react";
import { type CatalogAgent, useAgents } from "../service/queries/agents";

export interface AgentCatalog {
  /** `undefined` until the service has said. */
  readonly agents: readonly CatalogAgent[] | undefined;
  readonly byId: ReadonlyMap<string, CatalogAgent>;
  readonly problem: Error | undefined;
  readonly isLoading: boolean;
  refresh(): void;
}

/** Set by the console, which asks once for every page. */
export const AgentCatalogContext = createContext<AgentCatalog | undefined>(undefined);

export function useAgentCatalog(): AgentCatalog {
  const catalog = useContext(AgentCatalogContext);
  if (!catalog) throw new Error("useAgentCatalog() needs the console's layout above it.");
  return catalog;
}

/** For the console itself. */
export function useAskedCatalog(): AgentCatalog {
  const { value: agents, problem, isLoading, refresh } = useAgents();
  return useMemo(
    () => ({ agents, byId: new Map(agents?.map((agent) => [agent.id, agent])), problem, isLoading, refresh }),
    [agents, problem, isLoading, refresh],
  );
}
