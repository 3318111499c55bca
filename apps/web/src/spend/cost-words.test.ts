import { describe, expect, it } from "vitest";
import { formatCost, isPriced } from "./cost";

const complete = (costUsd: number | null) => ({ costUsd, isComplete: true });
const open = (costUsd: number | null) => ({ costUsd, isComplete: false });

describe("a cost in words", () => {
  it("is what it is, however little", () => {
    expect(formatCost(complete(0))).toBe("$0.00");
    expect(formatCost(complete(0.000_42))).toBe("$0.00042");
    expect(formatCost(complete(1.5))).toBe("$1.50");
  });

  it("says that a part is not known yet, and that all of it never will be", () => {
    expect(formatCost(open(1.5))).toBe("$1.50…");
    expect(formatCost(open(null))).toBe("…");
    expect(formatCost(complete(null))).toBe("Not priced");
    expect([open(null), open(1), complete(0), complete(null)].map(isPriced)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});
