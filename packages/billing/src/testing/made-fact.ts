import type { NewUnit } from "../ledger/usage-unit.js";
import type { SpendFact } from "../reconcile/spend-fact.js";

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
