"use client";

import { createContext, useContext, useMemo } from "react";
import * as z from "zod/mini";
import { keys, type Resource, useResource } from "./query";
import { askService } from "./request";

const schemaSchema = z.record(z.string(), z.json());

const agentSchema = z.pipe(
  z.object({
    graphId: z.string(),
    graphName: z.string(),
    name: z.string(),
    description: z.string(),
    capabilities: z.array(z.string()),
    commands: z.array(z.string()),
    /** Prompts that it answers well. */
    suggestions: z.array(z.string()),
    /** `script`: no model is configured, and the agent answers from a script of its own. */
    answeredBy: z.enum(["script", "model"]),
    /** Whether its runs may name a model; true where the service omits it. */
    acceptsModel: z._default(z.boolean(), true),
    inputSchema: schemaSchema,
    outputSchema: schemaSchema,
  }),
  z.transform(({ graphId, ...rest }) => ({ id: graphId, ...rest })),
);

/** An agent as the service lists it. `inputSchema` and `outputSchema` are JSON Schemas of its state. */
export type CatalogAgent = Readonly<z.output<typeof agentSchema>>;

const catalogSchema = z.object({ agents: z.array(agentSchema) });

function useAgents(): Resource<readonly CatalogAgent[]> {
  return useResource({
    queryKey: keys.agents,
    queryFn: async ({ signal }) => (await askService("/agents", catalogSchema, { signal })).agents,
  });
}

export interface AgentCatalog {
  /** `undefined` until the first response. */
  readonly agents: readonly CatalogAgent[] | undefined;
  readonly byId: ReadonlyMap<string, CatalogAgent>;
  readonly problem: Error | undefined;
  readonly isLoading: boolean;
  refresh(): void;
}

/** Provided by the console, which requests the catalog once for all pages. */
export const AgentCatalogContext = createContext<AgentCatalog | undefined>(undefined);

export function useAgentCatalog(): AgentCatalog {
  const catalog = useContext(AgentCatalogContext);
  if (!catalog) throw new Error("useAgentCatalog() needs the console's layout above it.");
  return catalog;
}

/** Requests the catalog, for the console's provider only. */
export function useCatalogQuery(): AgentCatalog {
  const { value: agents, problem, isLoading, refresh } = useAgents();
  return useMemo(
    () => ({ agents, byId: new Map(agents?.map((agent) => [agent.id, agent])), problem, isLoading, refresh }),
    [agents, problem, isLoading, refresh],
  );
}
