import type { UsageRow } from "../service/queries/usage";
import { shiftMonth } from "./month";

const DAY_MS = 86_400_000;

/** One colour of the chart. */
export interface Series {
  readonly name: string;
  /** Cost by day of the month, the first at 0. */
  readonly usd: readonly number[];
}

export interface DayStacks {
  readonly days: readonly string[];
  readonly series: readonly Series[];
  /** The highest stack. */
  readonly mostUsd: number;
}

/** What the days' totals are made of. What no named part explains is the rest, which is last. */
export function stackDays(
  month: string,
  totals: readonly UsageRow[],
  parts: readonly { readonly name: string; readonly rows: readonly UsageRow[] }[],
  restName: string,
): DayStacks {
  const days = daysOf(month);
  const whole = perDay(days, totals);
  const named = parts.map(({ name, rows }) => ({ name, usd: perDay(days, rows) }));
  const rest = whole.map((usd, at) => named.reduce((left, part) => left - (part.usd[at] ?? 0), usd));
  // Sums of fractions leave crumbs, which are no cost.
  const hasRest = rest.some((usd) => usd > 1e-9);
  return {
    days,
    series: hasRest ? [...named, { name: restName, usd: rest.map((usd) => Math.max(0, usd)) }] : named,
    mostUsd: Math.max(0, ...whole),
  };
}

function perDay(days: readonly string[], rows: readonly UsageRow[]): readonly number[] {
  const byDay = new Map(rows.map(({ key, costUsd }) => [key, costUsd]));
  return days.map((day) => byDay.get(day) ?? 0);
}

function daysOf(month: string): readonly string[] {
  const first = Date.parse(`${month}-01`);
  const count = (Date.parse(`${shiftMonth(month, 1)}-01`) - first) / DAY_MS;
  return Array.from({ length: count }, (_, at) => new Date(first + at * DAY_MS).toISOString().slice(0, 10));
}
