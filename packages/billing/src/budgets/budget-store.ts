import type { BudgetLimits } from "./decide-budget.js";

export interface BudgetRow {
  /** `undefined` is the account as a whole. */
  readonly subject: string | undefined;
  readonly limits: BudgetLimits;
}

export interface BudgetStore {
  /** The limits of the account, and of the person if one is named. */
  limitsOf(
    account: string,
    subject: string | undefined,
  ): Promise<{ readonly account: BudgetLimits | undefined; readonly person: BudgetLimits | undefined }>;
  /** Sets limits, or takes them away. */
  set(account: string, subject: string | undefined, limits: BudgetLimits | undefined): Promise<void>;
  /** The account's own first, then people by name. */
  list(account: string): Promise<readonly BudgetRow[]>;
  delete(account: string, subject?: string): Promise<void>;
}
