import { graphDescriptorSchema } from "@throughline/ai-core";
import { z } from "zod";
import type { RouteParts } from "../http/ingress.js";
import type { ActionRoute } from "../http/route-table.js";

/** The catalogue: which agents there are, what they take and give, and which commands they know. */
export function agentsRoute(parts: RouteParts): ActionRoute {
  return {
    method: "GET",
    path: "/agents",
    action: "read",
    doc: {
      summary: "List agents with their schemas and commands",
      tag: "agents",
      answer: {
        status: 200,
        description: "In the order people should see them",
        schema: z.object({ agents: z.array(graphDescriptorSchema) }),
      },
      errors: ["upstream_unavailable"],
    },
    async handle(c) {
      return c.json({ agents: await parts.service.agents.listAgents() });
    },
  };
}
