import type { Envelope, ExecutorType, UsageFact, UsagePort } from "@throughline/ai-core";
import type { RunRecord } from "@throughline/thread-log";
import type { RunRequest } from "../thread/run-request.js";

/** No-op usage port, used when billing is off. */
export const noUsage: UsagePort = { async record() {} };

/** The model calls of one attempt, as billing sees them: one fact per call that says what it used. */
export function createUsageFacts(
  run: RunRecord,
  { caller }: RunRequest,
  executorType: ExecutorType,
): (envelope: Envelope) => UsageFact | undefined {
  let ordinal = 0;
  return ({ type, payload }) => {
    if (type !== "llm_end") return undefined;
    ordinal += 1;
    if (!payload.usage) return undefined;
    return {
      usageUnitId: `${run.runId}/${run.attempt}/${ordinal}`,
      runId: run.runId,
      attempt: run.attempt,
      billingAccountId: caller.billingAccountId,
      virtualKeyId: caller.virtualKeyId,
      executorType,
      sourceSystem: "litellm",
      sourceReference: null,
      model: payload.model,
      inputTokens: payload.usage.input_tokens,
      outputTokens: payload.usage.output_tokens,
      costUsd: null,
      graphId: run.graphId,
      threadId: run.thread.threadId,
      traceId: caller.traceId,
    };
  };
}
