import type { Envelope, ExecutorType, UsageFact, UsagePort } from "@throughline/ai-core";
import type { RunRecord } from "@throughline/thread-log";
import type { ObservedCall, RunLabels, ServiceObserver } from "../operations/observer.js";
import type { RunRequest } from "../threads/run-spec.js";

/** Reports an entry to an observer, and the step, model call or tool call that begins or ends with it. */
export function noteEntry(
  observer: Pick<
    ServiceObserver,
    "entryRecorded" | "stepStarted" | "stepEnded" | "callStarted" | "callEnded"
  >,
  run: RunLabels,
  { type, call_id: callId }: Pick<Envelope, "type" | "call_id">,
): void {
  observer.entryRecorded(run);
  const kind: ObservedCall["kind"] = type === "llm_start" || type === "llm_end" ? "model" : "tool";
  switch (type) {
    case "step_start":
      observer.stepStarted(run, callId);
      break;
    case "step_end":
      observer.stepEnded(run, callId);
      break;
    case "llm_start":
    case "tool_start":
      observer.callStarted(run, { callId, kind });
      break;
    case "llm_end":
    case "tool_end":
      observer.callEnded(run, { callId, kind });
      break;
  }
}

/** No-op usage port, used when billing is off. */
export const noUsage: UsagePort = { async record() {} };

/** The model calls of one attempt, as billing sees them: one usage fact per call. */
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
