import { beforeEach, expect, it } from "vitest";
import type { BudgetStore } from "../budgets/budget-store.js";

/** What every budget store does alike. */
export function runBudgetConformance(open: () => Promise<BudgetStore>): void {
  const whole = { day: 5n, month: null, softPercent: 80 };
  const anns = { day: null, month: 9_007_199_254_740_993n, softPercent: null };
  let budgets: BudgetStore;
  beforeEach(async () => {
    budgets = await open();
  });

  it("has the limits of an account and of a person, each for itself", async () => {
    await budgets.set("a", undefined, whole);
    await budgets.set("a", "ann", anns);
    expect(await budgets.limitsOf("a", "ann")).toEqual({ account: whole, person: anns });
    expect(await budgets.limitsOf("a", "bob")).toEqual({ account: whole, person: undefined });
    expect(await budgets.limitsOf("a", undefined)).toEqual({ account: whole, person: undefined });
    expect(await budgets.limitsOf("b", "ann")).toEqual({ account: undefined, person: undefined });
  });

  it("replaces limits, takes them away, and lists what is left", async () => {
    await budgets.set("a", "bob", whole);
    await budgets.set("a", "ann", whole);
    await budgets.set("a", "ann", anns);
    await budgets.set("a", undefined, whole);
    expect(await budgets.list("a")).toEqual([
      { subject: undefined, limits: whole },
      { subject: "ann", limits: anns },
      { subject: "bob", limits: whole },
    ]);
    await budgets.set("a", "bob", undefined);
    await budgets.delete("a", "ann");
    expect((await budgets.list("a")).map(({ subject }) => subject)).toEqual([undefined]);
    await budgets.delete("a");
    expect(await budgets.list("a")).toEqual([]);
  });
}
