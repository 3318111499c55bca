import { randomUUID } from "node:crypto";
import { type LedgerStore, type NewUnit, NO_USAGE_SEEN, parseUsd } from "@throughline/billing";

export interface MadeCall extends Partial<NewUnit> {
  readonly account: string;
  /** In US dollars; without it the call stays in doubt. */
  readonly cost?: string;
}

/** For tests: a model call as a meter would have recorded it. Gives the unit's id. */
export async function madeCall(ledger: LedgerStore, { cost, ...fields }: MadeCall): Promise<string> {
  const unit: NewUnit = {
    unitId: randomUUID(),
    runId: randomUUID(),
    attempt: 0,
    ordinal: 1,
    subject: undefined,
    virtualKeyId: "vk-1",
    keyHash: "hash-of-the-key",
    requestId: "req-1",
    traceId: "trace-1",
    threadId: randomUUID(),
    graphId: "langgraph:poet",
    executorType: "inproc",
    model: "cheap",
    ...fields,
  };
  await ledger.open(unit);
  if (cost !== undefined) {
    const seen = { ...NO_USAGE_SEEN, servedModel: unit.model, inputTokens: 10, outputTokens: 5 };
    await ledger.charge(unit.unitId, { amount: parseUsd(cost) ?? 0n, evidence: "response_header", seen });
  }
  return unit.unitId;
}
