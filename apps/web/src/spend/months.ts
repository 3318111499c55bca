import type { Statement } from "../data/usage";

/** Formats a time's month as `2026-11`, in UTC as in statements. */
export function monthOf(now: number): string {
  return new Date(now).toISOString().slice(0, 7);
}

export function shiftMonth(month: string, by: number): string {
  const first = new Date(`${month}-01T00:00:00.000Z`);
  return monthOf(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + by));
}

export function formatMonth(month: string): string {
  const words = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });
  return words.format(Date.parse(`${month}-01T00:00:00.000Z`));
}

export interface MonthComparison {
  /** Cost of the whole month before. */
  readonly beforeUsd: number;
  /** For an unfinished month, the cost of the month before up to the same day, inclusive. */
  readonly untilUsd: number | undefined;
  /** Difference between this month's cost and the one that it is compared with. */
  readonly moreUsd: number;
}

/** Compares a month's cost with the month before; an unfinished month with as many days of it. */
export function compareMonths(
  { month, total }: Pick<Statement, "month" | "total">,
  before: Pick<Statement, "total" | "by">,
  now: number,
): MonthComparison {
  const beforeUsd = before.total.costUsd;
  if (month !== monthOf(now)) return { beforeUsd, untilUsd: undefined, moreUsd: total.costUsd - beforeUsd };
  const today = new Date(now).getUTCDate();
  const days = before.by.day.filter(({ key }) => Number(key.slice(-2)) <= today);
  const untilUsd = days.reduce((sum, { costUsd }) => sum + costUsd, 0);
  return { beforeUsd, untilUsd, moreUsd: total.costUsd - untilUsd };
}
