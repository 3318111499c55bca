import type { SeenResponse, UsageUnit } from "../ledger/usage-unit.js";
import type { Picodollars } from "../money/picodollars.js";
import type { SpendFact } from "./spend-fact.js";

export type Judgement =
  /** Nothing to do, now or at all. */
  | { readonly kind: "leave" }
  /** The unit has no receipt yet. */
  | { readonly kind: "charge"; readonly amount: Picodollars; readonly seen: SeenResponse }
  /** The receipt says something else. */
  | {
      readonly kind: "correct";
      readonly from: Picodollars;
      readonly amount: Picodollars;
      readonly seen: SeenResponse;
    }
  /** There is no evidence, and none will come: the account's policy decides. */
  | { readonly kind: "give_up"; readonly reason: "no_evidence" | "unpriced" };

export interface JudgeContext {
  /** The unit is old enough for all its rows to be there. */
  readonly isOld: boolean;
  /** LiteLLM has a price for the model, and it is zero. */
  readonly isFree: (model: string) => boolean;
}

/** What follows from all rows of one unit that are known. */
export function judgeFacts(unit: UsageUnit, facts: readonly SpendFact[], context: JudgeContext): Judgement {
  if (unit.state === "written_off") return { kind: "leave" };
  if (facts.length === 0) {
    return unit.state === "in_doubt" && context.isOld
      ? { kind: "give_up", reason: "no_evidence" }
      : { kind: "leave" };
  }
  const amount = facts.reduce((sum, { spend }) => sum + spend, 0n);
  const success = facts.find(({ status }) => status === "success");
  // A failure may be followed by a retry or a fallback under the same call id.
  if (!success && amount === 0n && !context.isOld) return { kind: "leave" };
  if (success && amount === 0n && isUnpriced(success, context)) {
    return unit.state === "in_doubt" ? { kind: "give_up", reason: "unpriced" } : { kind: "leave" };
  }
  const seen = seenIn(unit, success ?? facts[0], facts);
  if (unit.billed === null) return { kind: "charge", amount, seen };
  // The rows of a failed try alone say nothing of what the answer cost.
  if (unit.billed === amount || (!success && amount === 0n)) return { kind: "leave" };
  return { kind: "correct", from: unit.billed, amount, seen };
}

/** LiteLLM logs 0 for what it has no price for, as for what is free. */
function isUnpriced(
  { isCacheHit, outputTokens, inputTokens, modelGroup }: SpendFact,
  { isFree }: JudgeContext,
): boolean {
  return !isCacheHit && outputTokens + inputTokens > 0 && !(modelGroup !== null && isFree(modelGroup));
}

function seenIn(unit: UsageUnit, telling: SpendFact | undefined, facts: readonly SpendFact[]): SeenResponse {
  return {
    ...unit.seen,
    servedModel: telling?.modelGroup || unit.seen.servedModel,
    responseId: telling?.requestId ?? unit.seen.responseId,
    inputTokens: facts.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    outputTokens: facts.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  };
}
