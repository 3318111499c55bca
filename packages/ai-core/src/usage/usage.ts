import { z } from "zod";
import { sourceSystemSchema } from "../billing/source-system.js";

export const EXECUTOR_TYPES = ["inproc", "langgraph_server", "claude_sdk"] as const;
export const executorTypeSchema = z.enum(EXECUTOR_TYPES);
/** The kind of executor that ran a model call. Billing and history never branch on it. */
export type ExecutorType = z.infer<typeof executorTypeSchema>;

const count = z.number().int().nonnegative();

export const tokenUsageSchema = z.object({
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
});
export type TokenUsage = z.infer<typeof tokenUsageSchema>;

/** One model call (one HTTP request to LiteLLM), as billing sees it. */
export const usageFactSchema = z.object({
  /** A uuid of ours, created before the request and sent with it, so that a call which died with its driver can be found. */
  usageUnitId: z.string().min(1),
  runId: z.string().min(1),
  attempt: count,
  billingAccountId: z.string().min(1),
  virtualKeyId: z.string().min(1),
  executorType: executorTypeSchema,
  sourceSystem: sourceSystemSchema,
  /** The receipt's reference within the source system: the unit's id. `null` for a call that no meter saw. */
  sourceReference: z.string().nullable(),
  model: z.string().nullable(),
  inputTokens: count,
  outputTokens: count,
  /** `null` means unbilled as yet: reconciliation will fill it. */
  costUsd: z.number().nonnegative().nullable(),
  graphId: z.string().optional(),
  threadId: z.string().optional(),
  traceId: z.string().optional(),
});
export type UsageFact = z.infer<typeof usageFactSchema>;
