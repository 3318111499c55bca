import { describe, expect, it } from "vitest";
import { compareMonths } from "./months";

const bill = (costUsd: number) => ({ calls: 1, inputTokens: 1, outputTokens: 1, costUsd, unpriced: 0 });
const by = {
  day: [
    { key: "2026-10-16", ...bill(1) },
    { key: "2026-10-17", ...bill(2) },
    { key: "2026-10-31", ...bill(4) },
  ],
  agent: [],
  model: [],
  person: [],
};
const october = { total: bill(7), by };
const NOW = Date.parse("2026-11-17T12:00:00.000Z");

describe("A month against the one before", () => {
  it("is compared up to the same day while it is not over", () => {
    const compared = compareMonths({ month: "2026-11", total: bill(5) }, october, NOW);
    expect(compared).toEqual({ beforeUsd: 7, untilUsd: 3, moreUsd: 2 });
  });

  it("is compared with all of it once it is over", () => {
    const compared = compareMonths({ month: "2026-11", total: bill(5) }, october, NOW + 30 * 86_400_000);
    expect(compared).toEqual({ beforeUsd: 7, untilUsd: undefined, moreUsd: -2 });
  });
});
