import { z } from "zod";
import { type Picodollars, parseCost } from "../money/picodollars.js";

/** A model as people may see it. Where it is served and by whom stays behind LiteLLM. */
export interface ModelInfo {
  readonly id: string;
  /** Per token; `null` where LiteLLM has no price, which is not the same as free. */
  readonly inputPrice: Picodollars | null;
  readonly outputPrice: Picodollars | null;
  readonly maxInputTokens: number | null;
  readonly maxOutputTokens: number | null;
  readonly takesImages: boolean;
  readonly callsTools: boolean;
  readonly reasons: boolean;
}

const limit = z.number().nullish().catch(null);
const ability = z.boolean().nullish().catch(false);
const price = z
  .unknown()
  .transform((value) => parseCost(value) ?? null)
  .optional();

const groupSchema = z.object({
  model_group: z.string().min(1),
  input_cost_per_token: price,
  output_cost_per_token: price,
  max_input_tokens: limit,
  max_output_tokens: limit,
  supports_vision: ability,
  supports_function_calling: ability,
  supports_reasoning: ability,
});
const answerSchema = z.object({ data: z.array(z.unknown()) });

/**
 * Reads LiteLLM's `/model_group/info`: one entry per alias, only what is listed above. `/model/info` has the same with one entry
 * per deployment, and shows providers' addresses. An entry that can't be read is left out: a model we know nothing of is not
 * allowed.
 */
export function readModels(answer: unknown): readonly ModelInfo[] {
  return answerSchema.parse(answer).data.flatMap((entry) => {
    const read = groupSchema.safeParse(entry);
    if (!read.success) return [];
    const { data } = read;
    return [
      {
        id: data.model_group,
        inputPrice: data.input_cost_per_token ?? null,
        outputPrice: data.output_cost_per_token ?? null,
        maxInputTokens: data.max_input_tokens ?? null,
        maxOutputTokens: data.max_output_tokens ?? null,
        takesImages: data.supports_vision ?? false,
        callsTools: data.supports_function_calling ?? false,
        reasons: data.supports_reasoning ?? false,
      },
    ];
  });
}
