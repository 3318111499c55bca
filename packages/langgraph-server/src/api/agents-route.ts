import { acceptsModel, type GraphDescriptor, graphDescriptorSchema } from "@throughline/ai-core";
import { z } from "zod";
import type { ServiceBilling } from "../billing/service-billing.js";
import type { RouteParts } from "../http/ingress.js";
import type { ActionRoute } from "../http/route-table.js";

export const shownAgentSchema = graphDescriptorSchema.omit({ hasScript: true }).extend({
  suggestions: z.array(z.string()).describe("Questions it answers well."),
  acceptsModel: z
    .boolean()
    .describe(
      "Whether a run may name a model. Where not, the graph's own answers, and a run that names one is refused.",
    ),
  answeredBy: z
    .enum(["script", "model"])
    .describe("`script`: no model is configured, and the agent answers from a script of its own."),
});

/** The catalogue: which agents there are, what they take and give, and which commands they know. */
export function agentsRoute(parts: RouteParts<{ readonly billing: ServiceBilling }>): ActionRoute {
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
        schema: z.object({ agents: z.array(shownAgentSchema) }),
      },
      errors: ["upstream_unavailable"],
    },
    async handle(c) {
      const { agents, billing } = parts.service;
      const listed = await agents.listAgents();
      return c.json({ agents: listed.map((agent) => showAgent(agent, billing.isMetered)) });
    },
  };
}

function showAgent(
  { hasScript = false, suggestions = [], ...agent }: GraphDescriptor,
  hasModels: boolean,
): z.output<typeof shownAgentSchema> {
  return {
    ...agent,
    suggestions,
    acceptsModel: acceptsModel(agent) === true,
    answeredBy: hasScript && !hasModels ? "script" : "model",
  };
}
