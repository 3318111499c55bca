import { ThroughlineError } from "@throughline/ai-core";
import type { ModelInfo } from "./model-info.js";

/** Throws `model_not_allowed`, naming the allowed ones, unless the model is on the list. */
export function requireAllowedModel(models: readonly ModelInfo[], model: string | null): void {
  if (model !== null && models.some(({ id }) => id === model)) return;
  const allowed = models.map(({ id }) => id);
  const available =
    allowed.length > 0 ? `Available: ${allowed.join(", ")}.` : "None is available to this account.";
  throw new ThroughlineError(
    "model_not_allowed",
    model === null ? `The request names no model. ${available}` : `Unknown model "${model}". ${available}`,
    { details: { model, allowed } },
  );
}
