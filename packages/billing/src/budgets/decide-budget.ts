import type { Picodollars } from "../ledger/money.js";
import type { Period } from "../ledger/period.js";

/** Limits of spend per period; `null` is no limit. */
export interface BudgetLimits {
  readonly day: Picodollars | null;
  readonly month: Picodollars | null;
  /** Warns from this share of a limit on, in percent; `null` never warns. */
  readonly softPercent: number | null;
}

/** A limit and what was spent of it. */
export interface BudgetState {
  readonly of: "account" | "person";
  readonly period: Period;
  readonly limit: Picodollars;
  readonly spent: Picodollars;
  readonly softPercent: number | null;
}

export type BudgetDecision =
  | { readonly kind: "within" }
  | { readonly kind: "near" | "exceeded"; readonly state: BudgetState };

/**
 * Decides whether another call may be made. A call's price is known after it, so the call that crosses a limit is made and
 * charged, and the next is refused. Of several limits the fullest is reported.
 */
export function decideBudget(states: readonly BudgetState[]): BudgetDecision {
  const fullest = states.reduce<BudgetState | undefined>(
    (most, state) => (most === undefined || isFuller(state, most) ? state : most),
    undefined,
  );
  if (!fullest) return { kind: "within" };
  if (fullest.spent >= fullest.limit) return { kind: "exceeded", state: fullest };
  const near = states.filter(
    ({ spent, limit, softPercent }) => softPercent !== null && spent * 100n >= limit * BigInt(softPercent),
  );
  const nearest = near.reduce<BudgetState | undefined>(
    (most, state) => (most === undefined || isFuller(state, most) ? state : most),
    undefined,
  );
  return nearest ? { kind: "near", state: nearest } : { kind: "within" };
}

/** Compares the shares that were spent; a limit of nothing is always full. */
function isFuller(a: BudgetState, b: BudgetState): boolean {
  if (a.limit === 0n || b.limit === 0n) return a.limit === 0n && b.limit !== 0n;
  return a.spent * b.limit > b.spent * a.limit;
}
