import { acceptsModel, type GraphDescriptor, graphDescriptorSchema } from "@throughline/ai-core";
import { formatUsd, type ModelListing, type Picodollars } from "@throughline/billing";
import { z } from "zod";
import type { ServiceBilling } from "../../accounts/billing.js";
import type { App } from "../request.js";
import type { ActionRoute } from "../route.js";

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

/** The agent catalog: agents with their schemas and commands. */
export function agentsRoute(parts: App<{ readonly billing: ServiceBilling }>): ActionRoute {
  return {
    method: "GET",
    path: "/agents",
    action: "read",
    doc: {
      summary: "List agents with their schemas and commands",
      tag: "agents",
      response: {
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

const price = z.string().nullable().describe("US dollars per token as an exact decimal; null: not known.");
const tokens = z.number().nullable();

const listingSchema = z.object({
  models: z.array(
    z.object({
      id: z.string().describe("What a run names it by."),
      inputPrice: price,
      outputPrice: price,
      maxInputTokens: tokens,
      maxOutputTokens: tokens,
      takesImages: z.boolean(),
      callsTools: z.boolean(),
      reasons: z.boolean(),
    }),
  ),
  loadedAt: z.iso.datetime(),
  stale: z.boolean().describe("LiteLLM could not be asked lately."),
});

/** `GET /models`: the models that the caller may choose, with prices. */
export function modelsRoute(parts: App<{ readonly billing: ServiceBilling }>): ActionRoute {
  const { billing } = parts.service;
  return {
    method: "GET",
    path: "/models",
    action: "read",
    doc: {
      summary: "List the models that the caller may use",
      description: "As LiteLLM tells the account's key. Without LiteLLM: the offline model.",
      tag: "agents",
      response: { status: 200, description: "The models, with prices and limits", schema: listingSchema },
      errors: ["models_unavailable"],
    },
    async handle(c, { caller }) {
      return c.json(showListing(await billing.modelsOf(caller)));
    },
  };
}

function showListing({ models, loadedAt, isStale }: ModelListing): z.output<typeof listingSchema> {
  return {
    // Copied field by field: a model's host is not exposed, even if the list contains it one day.
    models: models.map((model) => ({
      id: model.id,
      inputPrice: showPrice(model.inputPrice),
      outputPrice: showPrice(model.outputPrice),
      maxInputTokens: model.maxInputTokens,
      maxOutputTokens: model.maxOutputTokens,
      takesImages: model.takesImages,
      callsTools: model.callsTools,
      reasons: model.reasons,
    })),
    loadedAt: new Date(loadedAt).toISOString(),
    stale: isStale,
  };
}

function showPrice(amount: Picodollars | null): string | null {
  return amount === null ? null : formatUsd(amount);
}
