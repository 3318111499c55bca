import { createSimulatedClock } from "@throughline/ai-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runBudgetConformance } from "../conformance/run-budget-conformance.js";
import { PERIODS, periodEnd, periodStart } from "../ledger/period.js";
import { createMemoryBudgetStore, createMemoryLedgerStore } from "../memory.js";
import { madeCharge, madeUnit } from "../testing/made-unit.js";
import { createBudgetGuard } from "./budgets.js";
import { type BudgetState, decideBudget } from "./decide-budget.js";

describe("budgets in memory", () => {
  runBudgetConformance(async () => createMemoryBudgetStore());
});

describe("a period", () => {
  it.each([
    ["day", "2026-11-17T23:59:59.999Z", "2026-11-17", "2026-11-18"],
    ["day", "2026-12-31T00:00:00.000Z", "2026-12-31", "2027-01-01"],
    ["month", "2026-11-17T12:00:00.000Z", "2026-11-01", "2026-12-01"],
    ["month", "2024-02-29T12:00:00.000Z", "2024-02-01", "2024-03-01"],
    ["month", "2026-12-31T23:59:59.999Z", "2026-12-01", "2027-01-01"],
  ] as const)("%s of %s begins %s and ends %s", (period, now, start, end) => {
    expect(periodStart(period, Date.parse(now))).toBe(Date.parse(start));
    expect(periodEnd(period, Date.parse(now))).toBe(Date.parse(end));
  });

  it("holds its moment, and the next begins where it ends", () => {
    fc.assert(
      fc.property(fc.constantFrom(...PERIODS), fc.integer({ min: 0, max: 4e12 }), (period, now) => {
        const end = periodEnd(period, now);
        expect(periodStart(period, now)).toBeLessThanOrEqual(now);
        expect(end).toBeGreaterThan(now);
        expect(periodStart(period, end)).toBe(end);
      }),
    );
  });
});

describe("a budget's decision", () => {
  const state = (spent: bigint, limit: bigint, fields: Partial<BudgetState> = {}): BudgetState => ({
    of: "account",
    period: "day",
    spent,
    limit,
    softPercent: 80,
    ...fields,
  });

  it.each<[string, readonly BudgetState[], string]>([
    ["without limits", [], "within"],
    ["below the soft limit", [state(79n, 100n)], "within"],
    ["at the soft limit", [state(80n, 100n)], "near"],
    ["without a soft limit", [state(99n, 100n, { softPercent: null })], "within"],
    ["at the limit", [state(100n, 100n)], "exceeded"],
    ["over the limit", [state(101n, 100n)], "exceeded"],
    ["with a limit of nothing", [state(0n, 0n)], "exceeded"],
    ["of two, one over", [state(1n, 100n), state(10n, 10n, { period: "month" })], "exceeded"],
    ["of two, one near", [state(90n, 100n), state(95n, 100n, { softPercent: null })], "near"],
  ])("%s", (_, states, kind) => {
    expect(decideBudget(states).kind).toBe(kind);
  });

  it("is exceeded exactly when some limit is, and names one that is", () => {
    const any = fc.record({ spent: fc.bigInt(0n, 20n), limit: fc.bigInt(0n, 20n) });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 4 }), (pairs) => {
        const decision = decideBudget(pairs.map(({ spent, limit }) => state(spent, limit)));
        expect(decision.kind === "exceeded").toBe(pairs.some(({ spent, limit }) => spent >= limit));
        if (decision.kind === "exceeded") {
          expect(decision.state.spent).toBeGreaterThanOrEqual(decision.state.limit);
        }
      }),
    );
  });
});

describe("the budget guard", () => {
  const USD = 1_000_000_000_000n;

  function scene() {
    const clock = createSimulatedClock(Date.parse("2026-11-17T23:59:50.000Z"));
    const ledger = createMemoryLedgerStore(clock);
    const budgets = createMemoryBudgetStore();
    let sums = 0;
    const guard = createBudgetGuard({
      budgets,
      clock,
      ledger: {
        spentSince(...args) {
          sums += 1;
          return ledger.spentSince(...args);
        },
      },
    });
    async function spend(amount: bigint, subject = "ann") {
      const unit = madeUnit({ account: "a", subject });
      await ledger.open(unit);
      await ledger.charge(unit.unitId, madeCharge(amount));
    }
    return { clock, budgets, guard, spend, sumsRead: () => sums };
  }

  it("reads no sum where there is no limit", async () => {
    const { guard, sumsRead } = scene();
    expect(await guard.require("a", "ann")).toEqual({ kind: "within" });
    expect(sumsRead()).toBe(0);
  });

  it("refuses with 402, what is used up and when it is renewed", async () => {
    const { budgets, guard, spend } = scene();
    await budgets.set("a", undefined, { day: USD, month: null, softPercent: null });
    await spend(USD + USD / 2n);
    await expect(guard.require("a", "ann")).rejects.toMatchObject({
      code: "budget_exceeded",
      status: 402,
      message:
        "The account's budget for today is used up: 1.5 of 1 USD. It is renewed at 2026-11-18T00:00:00.000Z; an owner of the account can raise it.",
      details: { of: "account", period: "day", limitUsd: "1", spentUsd: "1.5" },
    });
  });

  it("counts a person's own spending against their budget, and everyone's against the account's", async () => {
    const { budgets, guard, spend } = scene();
    await budgets.set("a", "bob", { day: null, month: USD, softPercent: 50 });
    await budgets.set("a", undefined, { day: null, month: 3n * USD, softPercent: null });
    await spend(USD, "ann");
    await spend(USD / 2n, "bob");
    expect(await guard.require("a", "ann")).toEqual({ kind: "within" });
    expect(await guard.require("a", "bob")).toMatchObject({ kind: "near", state: { of: "person" } });
  });

  it("adds what is charged here to the sums it has, and reads them again when they are old", async () => {
    const { clock, budgets, guard, sumsRead } = scene();
    await budgets.set("a", undefined, { day: USD, month: null, softPercent: null });
    await guard.require("a", "ann");
    guard.note("a", "bob", USD);
    await expect(guard.require("a", "ann")).rejects.toMatchObject({ code: "budget_exceeded" });
    expect(sumsRead()).toBe(1);
    clock.advance(5_000);
    await guard.require("a", "ann");
    expect(sumsRead()).toBe(2);
  });

  it("reads limits again when they are old, and at once when they were changed here", async () => {
    const { clock, budgets, guard, spend } = scene();
    await spend(USD);
    const limits = { day: USD, month: null, softPercent: null };
    expect(await guard.require("a", "ann")).toEqual({ kind: "within" });
    await budgets.set("a", undefined, limits);
    expect(await guard.require("a", "ann")).toEqual({ kind: "within" });
    clock.advance(5_000);
    await expect(guard.require("a", "ann")).rejects.toMatchObject({ code: "budget_exceeded" });
    await budgets.set("a", undefined, { ...limits, day: 2n * USD });
    guard.changed("a");
    expect(await guard.require("a", "ann")).toEqual({ kind: "within" });
  });

  it("knows at midnight that nothing was spent yet, however fresh its sums are", async () => {
    const { clock, budgets, guard, spend } = scene();
    await budgets.set("a", undefined, { day: USD, month: null, softPercent: null });
    await spend(USD);
    clock.advance(9_999);
    await expect(guard.require("a", "ann")).rejects.toMatchObject({ code: "budget_exceeded" });
    clock.advance(1);
    expect(await guard.require("a", "ann")).toEqual({ kind: "within" });
  });
});
