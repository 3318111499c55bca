import type { CallLabels } from "@throughline/ai-core";
import type { NewUnit } from "../ledger/ledger.js";
import type { SpendFact } from "../reconcile/spend-log.js";

/** For tests: the row that LiteLLM would log of a unit's call. */
export function madeFact(unit: NewUnit, fields: Partial<SpendFact> = {}): SpendFact {
  return {
    callId: unit.unitId,
    requestId: "chatcmpl-1",
    status: "success",
    unitId: unit.unitId,
    keyHash: unit.keyHash,
    spend: 17_000_000n,
    inputTokens: 11,
    outputTokens: 3,
    isCacheHit: false,
    errorCode: null,
    modelGroup: "cheap",
    endedAt: 1_000_000,
    labels: {},
    ...fields,
  };
}

export function madeFailure(unit: NewUnit, fields: Partial<SpendFact> = {}): SpendFact {
  return madeFact(unit, {
    requestId: unit.unitId,
    status: "failure",
    spend: 0n,
    inputTokens: 0,
    outputTokens: 0,
    errorCode: "500",
    ...fields,
  });
}

/** What the call of a unit says of itself. */
export function madeLabels(unit: NewUnit): CallLabels {
  return {
    accountId: unit.account,
    virtualKeyId: unit.virtualKeyId,
    runId: unit.runId,
    attempt: unit.attempt,
    usageUnitId: unit.unitId,
    threadId: unit.threadId,
    requestId: unit.requestId,
    traceId: unit.traceId,
    executorType: unit.executorType,
  };
}
