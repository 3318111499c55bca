import type { TokenUsage } from "./usage.js";

// Separate from the schemas, so that a page which adds up usage does not load zod.

export const NO_USAGE: TokenUsage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };

/** USAGE_IS_SUMMED_ACROSS_RUN (docs/requirements.md#server-12): never "last event wins". */
export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
  };
}
