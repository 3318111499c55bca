import type { RunnableConfig } from "@langchain/core/runnables";
import { executorTypeSchema, invalidInput } from "@throughline/ai-core";
import { z } from "zod";

const id = z.string().min(1).max(256);

/** The settings of a run's model. Everything else in `configurable` belongs to LangGraph and is left alone. */
const modelConfigSchema = z.object({
  /** A LiteLLM alias, not a provider's model name: the proxy maps it to a model. */
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

/** The metadata key that holds the identity of a run on a LangGraph server, where `configurable` stays with the thread. */
const IDENTITY_KEY = "throughline_identity";

/**
 * Reads the model's part of a run's `configurable`; throws `invalid_input` naming `configurable.{field}`. A null
 * counts as absent: a LangGraph server gets a null for each value that a run does not have.
 */
export function readModelConfig(config: RunnableConfig | undefined): ModelConfig {
  const entries = [config?.configurable, config?.metadata?.[IDENTITY_KEY]].flatMap((part) =>
    Object.entries(Object(part)).filter(([, value]) => value !== null),
  );
  const parsed = z.object({ configurable: modelConfigSchema }).safeParse({
    configurable: Object.fromEntries(entries),
  });
  if (!parsed.success) throw invalidInput(parsed.error, "configurable");
  return parsed.data.configurable;
}
