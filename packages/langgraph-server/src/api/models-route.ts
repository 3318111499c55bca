import { formatUsd, type ModelListing, type Picodollars } from "@throughline/billing";
import { z } from "zod";
import type { ServiceBilling } from "../billing/service-billing.js";
import type { RouteParts } from "../http/ingress.js";
import type { ActionRoute } from "../http/route-table.js";

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

/** `GET /models`: what the caller may choose from, with what it costs. */
export function modelsRoute(parts: RouteParts<{ readonly billing: ServiceBilling }>): ActionRoute {
  const { billing } = parts.service;
  return {
    method: "GET",
    path: "/models",
    action: "read",
    doc: {
      summary: "List the models that the caller may use",
      description: "As LiteLLM tells the account's key. Without LiteLLM: the offline model.",
      tag: "agents",
      answer: { status: 200, description: "The models, with prices and limits", schema: listingSchema },
      errors: ["models_unavailable"],
    },
    async handle(c, { caller }) {
      return c.json(showListing(await billing.modelsOf(caller)));
    },
  };
}

function showListing({ models, loadedAt, isStale }: ModelListing): z.output<typeof listingSchema> {
  return {
    // Field by field: where a model is served stays behind LiteLLM, whatever the list comes to hold.
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
