import type { ExecutorType, UsageFact } from "@throughline/ai-core";
import type { RunBill } from "../ledger/ledger-store.js";
import type { UsageUnit } from "../ledger/usage-unit.js";
import { toUsdNumber } from "../money/picodollars.js";

/** A unit as the rest of the system sees a model call, whoever ran it. */
export function toUsageFact(unit: UsageUnit): UsageFact {
  return {
    usageUnitId: unit.unitId,
    runId: unit.runId,
    attempt: unit.attempt,
    billingAccountId: unit.account,
    virtualKeyId: unit.virtualKeyId,
    executorType: unit.executorType,
    sourceSystem: "litellm",
    sourceReference: unit.unitId,
    model: unit.seen.servedModel ?? unit.model,
    inputTokens: unit.seen.inputTokens,
    outputTokens: unit.seen.outputTokens,
    costUsd: unit.billed === null ? null : toUsdNumber(unit.billed),
    graphId: unit.graphId,
    threadId: unit.threadId,
    traceId: unit.traceId,
  };
}

/**
 * A run's bill as its `usage_report`, summed over all its calls and attempts. While a call has no price the report is not
 * complete, and its cost is that of the others.
 */
export function toUsageReport(
  bill: RunBill,
  { model, executorType }: { model: string | null; executorType: ExecutorType },
) {
  return {
    type: "usage_report" as const,
    usageUnitId: null,
    model,
    inputTokens: bill.inputTokens,
    outputTokens: bill.outputTokens,
    costUsd: bill.calls === bill.unpriced && bill.calls > 0 ? null : toUsdNumber(bill.amount),
    complete: bill.unpriced === 0,
    executorType,
  };
}
