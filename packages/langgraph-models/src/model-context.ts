import { z } from "zod";

/**
 * The context schema of graphs that make their model with `createModel`: what a run may configure. A null is as good as a key
 * left out.
 */
export const modelContextSchema = z.object({
  model: z.string().min(1).max(128).nullish().describe("A model's alias at LiteLLM."),
  offline: z
    .object({
      paceMs: z.number().min(0).max(60_000).optional().describe("Milliseconds between tokens."),
      failAfterTokens: z
        .number()
        .int()
        .min(0)
        .optional()
        .describe("Fails each answer after this many tokens."),
    })
    .nullish()
    .describe("How the offline model answers."),
});
