import type { RunnableConfig } from "@langchain/core/runnables";
import type { CallLabels, ExecutorType, KnownLabels } from "@throughline/ai-core";
import { readModelConfig } from "./model-config.js";

/** What is known of a run: all labels of a call but the call's own id. */
export type RunLabels = Omit<KnownLabels, "usageUnitId"> & Pick<CallLabels, "executorType">;

/** Reads the labels of a run's model calls from its config. A run that others started has the server's id and no account. */
export function readRunLabels(config: RunnableConfig | undefined, executorType: ExecutorType): RunLabels {
  const run = readModelConfig(config);
  return {
    accountId: run.billingAccountId,
    virtualKeyId: run.virtualKeyId,
    runId: run.runId ?? run.run_id,
    attempt: run.attempt,
    threadId: run.thread_id,
    requestId: run.ingressRequestId,
    traceId: run.traceId,
    executorType: run.executorType ?? executorType,
  };
}
