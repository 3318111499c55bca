import type { Budget } from "../service/queries/usage";
import { shiftMonth } from "./month";

const DAY_MS = 86_400_000;

/** The line that a chart of days has: the tightest budget of a day, else that of the month in even parts. */
export function dayBudget(
  budgets: readonly Budget[],
  month: string,
): { readonly usd: number; readonly label: string } | undefined {
  const tightest = (period: Budget["period"]) => {
    const limits = budgets.filter((budget) => budget.period === period).map(({ limitUsd }) => limitUsd);
    return limits.length === 0 ? undefined : Math.min(...limits);
  };
  const day = tightest("day");
  if (day !== undefined) return { usd: day, label: "Budget" };
  const whole = tightest("month");
  const days = (Date.parse(`${shiftMonth(month, 1)}-01`) - Date.parse(`${month}-01`)) / DAY_MS;
  return whole === undefined ? undefined : { usd: whole / days, label: "Month's budget, evenly" };
}
