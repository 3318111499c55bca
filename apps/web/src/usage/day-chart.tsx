import type { ReactNode } from "react";
import { Disclosure } from "../design/disclosure";
import { usdWords } from "./cost-words";
import styles from "./day-chart.module.css";
import type { DayStacks } from "./day-stacks";

const BAR = 8;
const STEP = 10;
const HEIGHT = 100;

interface DayChartProps {
  readonly stacks: DayStacks;
  /** What a day may cost. */
  readonly budget: { readonly usd: number; readonly label: string } | undefined;
  /** The numbers are in a table that the page shows anyway. */
  readonly isTabled: boolean;
}

/** A bar for each day of a month. The numbers are in a table, for which this is a picture. */
export function DayChart({ stacks, budget, isTabled }: DayChartProps): ReactNode {
  const { days, series, mostUsd } = stacks;
  // A line far above all bars would press them flat: the budget's own bar tells it then.
  const line = budget && budget.usd <= 4 * mostUsd ? budget : undefined;
  const top = Math.max(mostUsd, line?.usd ?? 0, Number.MIN_VALUE);
  const heightOf = (usd: number) => (HEIGHT * usd) / top;
  return (
    <figure className={styles.figure}>
      <div className={styles.scale} aria-hidden="true">
        <span>{usdWords(top)}</span>
        {line && (
          <span className={styles.budget}>
            {line.label}: {usdWords(line.usd)} a day
          </span>
        )}
      </div>
      <svg
        className={styles.chart}
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Cost by day, at most ${usdWords(mostUsd)}. A table has the numbers.`}
      >
        {days.map((day, at) => (
          <g key={day}>
            <title>{`${day}: ${usdWords(sumOf(series.map(({ usd }) => usd[at] ?? 0)))}`}</title>
            {/* A day without cost can be pointed at too. */}
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
                      <td key={name}>{usdWords(usd[at] ?? 0)}</td>
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
