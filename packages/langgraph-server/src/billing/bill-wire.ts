import { formatUsd, type Picodollars, type RunBill, toUsdNumber } from "@throughline/billing";
import { z } from "zod";

export const count = z.number().int().nonnegative();

/** An amount twice: as a number to show, and as exact text to add up. */
const costShape = {
  costUsd: z.number().describe("For display. Sums of these are not exact."),
  cost: z.string().describe("US dollars as an exact decimal."),
};

/** What calls used and cost, as every answer tells it. */
export const billSchema = z.object({
  calls: count,
  inputTokens: count,
  outputTokens: count,
  ...costShape,
  unpriced: count.describe("Calls whose price is not known yet. They are not in the cost."),
});

function showCost(amount: Picodollars): { readonly costUsd: number; readonly cost: string } {
  return { costUsd: toUsdNumber(amount), cost: formatUsd(amount) };
}

export function showBill({ amount, calls, inputTokens, outputTokens, unpriced }: RunBill) {
  return { calls, inputTokens, outputTokens, ...showCost(amount), unpriced };
}
