import type { PayloadOf, UsageFact } from "@throughline/ai-core";
import type { LedgerStore, RunBill } from "../ledger/ledger-store.js";
import type { NewUnit, SeenResponse, UsageUnit } from "../ledger/usage-unit.js";
import { type Picodollars, toUsdNumber } from "../money/picodollars.js";

/** A unit as the rest of the system sees a model call, whatever executed it. No amount: not priced yet. */
export function toUsageFact(unit: NewUnit, seen: SeenResponse, amount: Picodollars | null): UsageFact {
  return {
    usageUnitId: unit.unitId,
    runId: unit.runId,
    attempt: unit.attempt,
    billingAccountId: unit.account,
    virtualKeyId: unit.virtualKeyId,
    executorType: unit.executorType,
    sourceSystem: "litellm",
    sourceReference: unit.unitId,
    model: seen.servedModel ?? unit.model,
    inputTokens: seen.inputTokens,
    outputTokens: seen.outputTokens,
    costUsd: amount === null ? null : toUsdNumber(amount),
    graphId: unit.graphId,
    threadId: unit.threadId,
    traceId: unit.traceId,
  };
}

/** A run's bill with the units that it is the sum of, oldest first. */
export interface ItemizedBill extends RunBill {
  /** The first of them, where there are very many. */
  readonly units: readonly UsageUnit[];
}

/** A run's log holds one entry with all of these. */
const UNITS_ON_A_BILL = 200;

export async function itemizedBillOf(
  ledger: Pick<LedgerStore, "billOf" | "unitsOf">,
  runId: string,
): Promise<ItemizedBill> {
  const [bill, units] = await Promise.all([ledger.billOf(runId), ledger.unitsOf(runId, UNITS_ON_A_BILL)]);
  return { ...bill, units };
}

/**
 * A run's `usage` with what the ledger knows of it, summed over all its calls and attempts. While a call has no price the sum
 * is not complete, and its cost is that of the others. Where the ledger has no call of the run, what was counted stays.
 */
export function billUsage(counted: PayloadOf<"usage">, bill: ItemizedBill): PayloadOf<"usage"> {
  if (bill.calls === 0) return { ...counted, complete: counted.model_calls === 0 };
  // More were made than the ledger has: past the meter, or on a server whose calls are found in LiteLLM's log.
  const complete = bill.unpriced === 0 && bill.calls >= counted.model_calls;
  // A call that broke off told the meter no tokens, and perhaps the graph some.
  const tokens = (metered: number, seen: number) => (complete ? metered : Math.max(metered, seen));
  const input_tokens = tokens(bill.inputTokens, counted.input_tokens);
  const output_tokens = tokens(bill.outputTokens, counted.output_tokens);
  return {
    model: counted.model,
    model_calls: bill.calls,
    input_tokens,
    output_tokens,
    total_tokens: input_tokens + output_tokens,
    cost_usd: bill.calls === bill.unpriced ? null : toUsdNumber(bill.amount),
    complete,
    calls: bill.units.map(({ unitId, model, seen, billed }) => ({
      usage_unit_id: unitId,
      model: seen.servedModel ?? model,
      input_tokens: seen.inputTokens,
      output_tokens: seen.outputTokens,
      cost_usd: billed === null ? null : toUsdNumber(billed),
    })),
  };
}
