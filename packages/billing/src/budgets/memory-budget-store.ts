import type { BudgetStore } from "./budget-store.js";
import type { BudgetLimits } from "./decide-budget.js";

/** For tests and for services without a database. */
export function createMemoryBudgetStore(): BudgetStore {
  const accounts = new Map<string, Map<string, BudgetLimits>>();
  const of = (account: string) => accounts.get(account) ?? new Map<string, BudgetLimits>();
  return {
    async limitsOf(account, subject) {
      return {
        account: of(account).get(""),
        person: subject === undefined ? undefined : of(account).get(subject),
      };
    },
    async set(account, subject = "", limits) {
      const budgets = of(account);
      if (limits) budgets.set(subject, limits);
      else budgets.delete(subject);
      accounts.set(account, budgets);
    },
    async list(account) {
      return [...of(account)]
        .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
        .map(([subject, limits]) => ({ subject: subject === "" ? undefined : subject, limits }));
    },
    async delete(account, subject) {
      if (subject === undefined) accounts.delete(account);
      else of(account).delete(subject);
    },
  };
}
