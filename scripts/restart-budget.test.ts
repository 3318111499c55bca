import { expect, it } from "vitest";
import { createRestartBudget } from "./restart-budget.mjs";

it("allows so many restarts within a minute, and more when the earlier ones are a minute ago", () => {
  let now = 0;
  const budget = createRestartBudget({ max: 3, perMs: 60_000, now: () => now });
  const taken = [0, 10_000, 20_000, 30_000, 59_999, 60_000, 60_001, 70_000].map((at) => {
    now = at;
    return budget.take();
  });
  expect(taken).toEqual([true, true, true, false, false, true, false, true]);
});
