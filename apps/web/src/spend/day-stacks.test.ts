import { expect, it } from "vitest";
import { stackDays } from "./day-chart";

const row = (key: string, costUsd: number) => ({
  key,
  costUsd,
  calls: 1,
  inputTokens: 1,
  outputTokens: 1,
  unpriced: 0,
});

it("A day's bar is made of its parts, and of a rest where they do not explain all of it", () => {
  const totals = [row("2026-02-01", 3), row("2026-02-28", 1)];
  const { days, series, mostUsd } = stackDays(
    "2026-02",
    totals,
    [{ name: "Poet", rows: [row("2026-02-01", 2)] }],
    "Rest",
  );
  expect([days.length, days[0], days.at(-1)]).toEqual([28, "2026-02-01", "2026-02-28"]);
  expect(series.map(({ name, usd }) => [name, usd[0], usd[1], usd[27]])).toEqual([
    ["Poet", 2, 0, 0],
    ["Rest", 1, 0, 1],
  ]);
  expect(mostUsd).toBe(3);
});

it("There is no rest where the parts are all", () => {
  const parts = [
    { name: "a", rows: [row("2026-02-01", 0.1)] },
    { name: "b", rows: [row("2026-02-01", 0.2)] },
  ];
  const { series } = stackDays("2026-02", [row("2026-02-01", 0.3)], parts, "Rest");
  expect(series.map(({ name }) => name)).toEqual(["a", "b"]);
});
