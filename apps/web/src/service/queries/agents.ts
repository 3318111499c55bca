"use client";

import * as z from "zod/mini";
import { askService } from "../ask-service";
import { keys } from "./keys";
import { type Resource, useResource } from "./resource";

const schemaSchema = z.record(z.string(), z.json());

const agentSchema = z.pipe(
  z.object({
    graphId: z.string(),
    graphName: z.string(),
    name: z.string(),
    description: z.string(),
    capabilities: z.array(z.string()),
    commands: z.array(z.string()),
    /** Questions it answers well. */
    suggestions: z.array(z.string()),
    /** `script`: no model is configured, and the agent answers from a script of its own. */
    answeredBy: z.enum(["script", "model"]),
    /** Whether its runs may name a model; a service that does not say so lets them. */
    acceptsModel: z._default(z.boolean(), true),
    inputSchema: schemaSchema,
    outputSchema: schemaSchema,
  }),
  z.transform(({ graphId, ...rest }) => ({ id: graphId, ...rest })),
);

/** One agent as the service lists it. `inputSchema` and `outputSchema` are JSON Schemas of its state. */
export type CatalogAgent = Readonly<z.output<typeof agentSchema>>;

const catalogSchema = z.object({ agents: z.array(agentSchema) });

export function useAgents(): Resource<readonly CatalogAgent[]> {
  return useResource({
    queryKey: keys.agents,
    queryFn: async ({ signal }) => (await askService("/agents", catalogSchema, { signal })).agents,
  });
}
