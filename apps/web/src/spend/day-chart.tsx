import type { ReactNode } from "react";
import { Disclosure } from "../agent-ui/primitives/disclosure";
import type { Budget, UsageRow } from "../data/usage";
import { formatUsd } from "./cost";
import styles from "./day-chart.module.css";
import { shiftMonth } from "./months";

const BAR = 8;
const STEP = 10;
const HEIGHT = 100;

interface DayChartProps {
  readonly stacks: DayStacks;
  /** Budget of a day. */
  readonly budget: { readonly usd: number; readonly label: string } | undefined;
  /** Whether the page shows the numbers in a table anyway. */
  readonly isTabled: boolean;
}

/** Bar chart of a month's days. The numbers are in a table, for which this is a picture. */
export function DayChart({ stacks, budget, isTabled }: DayChartProps): ReactNode {
  const { days, series, mostUsd } = stacks;
  // A line far above all bars would flatten them; the budget's own bar shows it then.
  const line = budget && budget.usd <= 4 * mostUsd ? budget : undefined;
  const top = Math.max(mostUsd, line?.usd ?? 0, Number.MIN_VALUE);
  const heightOf = (usd: number) => (HEIGHT * usd) / top;
  return (
    <figure className={styles.figure}>
      <div className={styles.scale} aria-hidden="true">
        <span>{formatUsd(top)}</span>
        {line && (
          <span className={styles.budget}>
            {line.label}: {formatUsd(line.usd)} a day
          </span>
        )}
      </div>
      <svg
        className={styles.chart}
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Cost by day, at most ${formatUsd(mostUsd)}. A table has the numbers.`}
      >
        {days.map((day, at) => (
          <g key={day}>
            <title>{`${day}: ${formatUsd(sumOf(series.map(({ usd }) => usd[at] ?? 0)))}`}</title>
            {/* A day without cost has a tooltip too. */}
            <rect x={at * STEP} y={0} width={STEP} height={HEIGHT} fill="transparent" />
            {series.map(({ name, usd }, index) => {
              const below = sumOf(series.slice(0, index).map((one) => one.usd[at] ?? 0));
              const own = usd[at] ?? 0;
              return own === 0 ? null : (
                <rect
                  key={name}
                  className={styles.bar}
                  data-series={index}
                  x={at * STEP + (STEP - BAR) / 2}
                  y={HEIGHT - heightOf(below + own)}
                  width={BAR}
                  height={heightOf(own)}
                />
              );
            })}
          </g>
        ))}
        {line && (
          <line
            className={styles.line}
            x1={0}
            x2={days.length * STEP}
            y1={HEIGHT - heightOf(line.usd)}
            y2={HEIGHT - heightOf(line.usd)}
          />
        )}
      </svg>
      <div className={styles.axis} aria-hidden="true">
        <span>{days[0]?.slice(-2)}</span>
        <span>{days[Math.floor(days.length / 2)]?.slice(-2)}</span>
        <span>{days.at(-1)?.slice(-2)}</span>
      </div>
      {!isTabled && (
        <figcaption>
          <ul className={styles.legend}>
            {series.map(({ name }, index) => (
              <li key={name}>
                <span className={styles.swatch} data-series={index} aria-hidden="true" />
                {name}
              </li>
            ))}
          </ul>
          <Disclosure summary="Numbers of the chart" className={styles.numbers ?? ""}>
            <Numbers stacks={stacks} />
          </Disclosure>
        </figcaption>
      )}
    </figure>
  );
}

function Numbers({ stacks: { days, series } }: { readonly stacks: DayStacks }): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is too wide for a phone scrolls by keyboard
    <section className={styles.scroll} aria-label="Numbers of the chart" tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.flatMap((day, at) =>
            series.some(({ usd }) => (usd[at] ?? 0) > 0)
              ? [
                  <tr key={day}>
                    <th scope="row">{day}</th>
                    {series.map(({ name, usd }) => (
                      <td key={name}>{formatUsd(usd[at] ?? 0)}</td>
                    ))}
                  </tr>,
                ]
              : [],
          )}
        </tbody>
      </table>
    </section>
  );
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

const DAY_MS = 86_400_000;

/** One colour of the chart. */
export interface Series {
  readonly name: string;
  /** Cost by day of the month, the first at 0. */
  readonly usd: readonly number[];
}

interface DayStacks {
  readonly days: readonly string[];
  readonly series: readonly Series[];
  /** The highest stack. */
  readonly mostUsd: number;
}

/** Splits the days' totals into the named parts. The rest that no part explains is last. */
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
  // Sums of fractions leave rounding errors, which are no cost.
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

const BUDGET_DAY_MS = 86_400_000;

/** Budget line of the chart: the tightest budget of a day, else that of the month in even parts. */
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
  const days = (Date.parse(`${shiftMonth(month, 1)}-01`) - Date.parse(`${month}-01`)) / BUDGET_DAY_MS;
  return whole === undefined ? undefined : { usd: whole / days, label: "Month's budget, evenly" };
}
