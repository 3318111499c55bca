import { expect, it } from "vitest";
import { formatMonth, monthOf, shiftMonth } from "./months";

it("A month is that of UTC, and has one before and one after it", () => {
  expect(monthOf(Date.parse("2026-11-30T23:59:59.999Z"))).toBe("2026-11");
  expect(shiftMonth("2026-01", -1)).toBe("2025-12");
  expect(shiftMonth("2026-12", 1)).toBe("2027-01");
  expect(formatMonth("2026-11")).toBe("November 2026");
});
