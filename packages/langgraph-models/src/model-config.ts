import type { RunnableConfig } from "@langchain/core/runnables";
import { executorTypeSchema, invalidInput } from "@throughline/ai-core";
import { z } from "zod";

const id = z.string().min(1).max(256);

/** What a run may say about its model. Everything else in `configurable` belongs to LangGraph and is left alone. */
const modelConfigSchema = z.object({
  /** A LiteLLM alias, not a provider's model name: the proxy decides what stands behind it. */
  model: z.string().min(1).max(128).default("default"),
  virtualKeyId: id.optional(),
  billingAccountId: id.optional(),
  runId: id.optional(),
  attempt: z.number().int().min(0).optional(),
  ingressRequestId: id.optional(),
  traceId: id.optional(),
  thread_id: id.optional(),
  /** A LangGraph server's own id of the run. */
  run_id: id.optional(),
  executorType: executorTypeSchema.optional(),
  offline: z
    .object({
      paceMs: z.number().min(0).max(60_000).optional(),
      failAfterTokens: z.number().int().min(0).optional(),
    })
    .default({}),
});
export type ModelConfig = z.infer<typeof modelConfigSchema>;

/** Where a run on a LangGraph server says in whose name it runs: what is in `configurable` stays with the thread there. */
const IDENTITY_KEY = "throughline_identity";

/**
 * Reads the model's part of a run's `configurable`; throws `invalid_input` naming `configurable.{field}`. A value that is
 * null is as good as absent: that is how a LangGraph server is told that a run has none.
 */
export function readModelConfig(config: RunnableConfig | undefined): ModelConfig {
  const said = [config?.configurable, config?.metadata?.[IDENTITY_KEY]].flatMap((part) =>
    Object.entries(Object(part)).filter(([, value]) => value !== null),
  );
  const parsed = z.object({ configurable: modelConfigSchema }).safeParse({
    configurable: Object.fromEntries(said),
  });
  if (!parsed.success) throw invalidInput(parsed.error, "configurable");
  return parsed.data.configurable;
}
