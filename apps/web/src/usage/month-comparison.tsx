import type { ReactNode } from "react";
import type { Statement } from "../service/queries/usage";
import { compareMonths } from "./compare-months";
import { usdWords } from "./cost-words";
import { monthWords, shiftMonth } from "./month";
import styles from "./month-comparison.module.css";

interface MonthComparisonProps {
  readonly statement: Statement;
  readonly before: Statement;
  readonly now: number;
}

/** The month's cost beside that of the month before. */
export function MonthComparison({ statement, before, now }: MonthComparisonProps): ReactNode {
  const { beforeUsd, untilUsd, moreUsd } = compareMonths(statement, before, now);
  const last = monthWords(shiftMonth(statement.month, -1));
  const until = untilUsd === undefined ? undefined : `${last}, up to day ${new Date(now).getUTCDate()}`;
  return (
    <dl className={styles.comparison} aria-label="This month against the month before">
      <Figure label={monthWords(statement.month)} value={usdWords(statement.total.costUsd)} />
      {until !== undefined && <Figure label={until} value={usdWords(untilUsd ?? 0)} />}
      <Figure label={last} value={usdWords(beforeUsd)} />
      <Figure label="Change" value={changeWords(moreUsd)} />
    </dl>
  );
}

function changeWords(moreUsd: number): string {
  if (moreUsd === 0) return "None";
  return moreUsd > 0 ? `${usdWords(moreUsd)} more` : `${usdWords(-moreUsd)} less`;
}

function Figure({ label, value }: { readonly label: string; readonly value: string }): ReactNode {
  return (
    <div className={styles.figure}>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}
