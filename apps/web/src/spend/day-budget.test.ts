import { expect, it } from "vitest";
import type { Budget } from "../data/usage";
import { dayBudget } from "./day-chart";

const budget = (of: Budget["of"], period: Budget["period"], limitUsd: number): Budget => ({
  of,
  period,
  limitUsd,
  spentUsd: 0,
  share: 0,
  standing: "within",
  renewedAt: "2026-12-01T00:00:00.000Z",
});

it("A day's budget is the tightest of a day, else an even part of the month's", () => {
  const month = budget("account", "month", 60);
  expect(dayBudget([month, budget("account", "day", 9), budget("person", "day", 5)], "2026-11")).toEqual({
    usd: 5,
    label: "Budget",
  });
  expect(dayBudget([month], "2026-11")).toEqual({ usd: 2, label: "Month's budget, evenly" });
  expect(dayBudget([], "2026-11")).toBeUndefined();
});
