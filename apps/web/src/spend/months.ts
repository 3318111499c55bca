import type { Statement } from "../data/usage";

/** `2026-11`, in UTC, as statements are. */
export function monthOf(now: number): string {
  return new Date(now).toISOString().slice(0, 7);
}

export function shiftMonth(month: string, by: number): string {
  const first = new Date(`${month}-01T00:00:00.000Z`);
  return monthOf(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + by));
}

export function monthWords(month: string): string {
  const words = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });
  return words.format(Date.parse(`${month}-01T00:00:00.000Z`));
}

export interface MonthComparison {
  /** All of the month before. */
  readonly beforeUsd: number;
  /** Of a month that is not over, the month before up to the same day, that day included. */
  readonly untilUsd: number | undefined;
  /** How much more this month cost than what it is compared with. */
  readonly moreUsd: number;
}

/** A month that is not over is compared with as many days of the one before. */
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
