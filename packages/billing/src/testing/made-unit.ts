import { randomUUID } from "node:crypto";
import { type Charge, type NewUnit, NO_USAGE_SEEN, type ResponseUsage } from "../ledger/ledger.js";

/** For tests: a unit as a meter would open it. */
export function madeUnit(fields: Partial<NewUnit> = {}): NewUnit {
  return {
    unitId: randomUUID(),
    runId: "run-1",
    attempt: 0,
    ordinal: 1,
    account: "acct-a",
    subject: "ann",
    virtualKeyId: "vk-a",
    keyHash: "hash-a",
    requestId: "req-1",
    traceId: "trace-1",
    threadId: "thread-1",
    graphId: "langgraph:poet",
    executorType: "inproc",
    model: "cheap",
    ...fields,
  };
}

export function madeCharge(amount: bigint, seen: Partial<ResponseUsage> = {}): Charge {
  return {
    amount,
    evidence: "response_header",
    seen: { ...NO_USAGE_SEEN, servedModel: "cheap", inputTokens: 11, outputTokens: 3, ...seen },
  };
}
