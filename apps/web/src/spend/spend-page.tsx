"use client";

import { type ReactNode, useState } from "react";
import { IconButton } from "../agent-ui/primitives/button";
import buttonStyles from "../agent-ui/primitives/button.module.css";
import { EmptyState } from "../agent-ui/primitives/empty-state";
import { ErrorState, Skeleton } from "../agent-ui/primitives/status";
import { useAgentCatalog } from "../data/agents";
import { useCaller } from "../data/caller";
import { type Statement, statementCsvPath, useBudgets, useStatement } from "../data/usage";
import { ConnectModel } from "../shell/offline-model";
import { PageFrame } from "../shell/page-frame";
import { BudgetBars } from "./budget-bars";
import { Cost, formatUsd, unpricedText } from "./cost";
import { compareMonths, formatMonth, monthOf, shiftMonth } from "./months";
import { SpendGroups } from "./spend-groups";
import styles from "./spend-page.module.css";

/** Page of the cost of a month's model calls and of the budgets. */
export function SpendPage(): ReactNode {
  const refusal = useCaller().refusal("see_spend");
  const [now] = useState(Date.now);
  const [month, setMonth] = useState(() => monthOf(now));
  const isAllowed = refusal === undefined;
  const statement = useStatement(month, isAllowed);
  const before = useStatement(shiftMonth(month, -1), isAllowed);
  const budgets = useBudgets(isAllowed);
  const isOffline = useAgentCatalog().agents?.some(({ answeredBy }) => answeredBy === "script") ?? false;
  const { value, problem } = statement;
  const isEmpty = value?.total.calls === 0;
  return (
    <PageFrame
      title="Spend"
      lead={value && !isEmpty ? <Lead statement={value} /> : "What model calls cost."}
      {...(isAllowed && {
        actions: (
          <MonthChoice month={month} isLast={month >= monthOf(now)} hasRows={!isEmpty} onChange={setMonth} />
        ),
      })}
    >
      {!isAllowed && <EmptyState title="Not for your role">{refusal}</EmptyState>}
      {budgets.problem && <ErrorState message={budgets.problem.message} onRetry={budgets.refresh} />}
      {budgets.value && <BudgetBars budgets={budgets.value} />}
      {statement.isLoading && <Skeleton label="Loading spend" lines={6} />}
      {problem && <ErrorState message={problem.message} onRetry={statement.refresh} />}
      {isAllowed && isOffline && (
        <section className={styles.offline} aria-label="Offline scripted model">
          <h2>Offline scripted model</h2>
          <ConnectModel />
        </section>
      )}
      {isEmpty && (
        <EmptyState title={`Nothing was spent in ${formatMonth(month)}`}>
          Model calls show here with their cost when a run makes them through LiteLLM.
        </EmptyState>
      )}
      {value && before.value && !(isEmpty && before.value.total.calls === 0) && (
        <MonthComparison statement={value} before={before.value} now={now} />
      )}
      {value && !isEmpty && <SpendGroups key={month} statement={value} budgets={budgets.value ?? []} />}
    </PageFrame>
  );
}

function Lead({ statement: { total, isFinal } }: { readonly statement: Statement }): ReactNode {
  const calls = total.calls === 1 ? "1 model call" : `${total.calls.toLocaleString("en")} model calls`;
  const open = unpricedText(total.unpriced);
  return (
    <>
      <span className={styles.total}>
        <Cost
          usage={{ costUsd: total.costUsd, isComplete: total.unpriced === 0 }}
          why={`Of these calls ${open}.`}
        />
      </span>{" "}
      for {calls}
      {total.unpriced > 0 && `, of which ${open}`}
      {isFinal ? ". Final." : "."}
    </>
  );
}

interface MonthChoiceProps {
  readonly month: string;
  readonly isLast: boolean;
  readonly hasRows: boolean;
  readonly onChange: (month: string) => void;
}

function MonthChoice({ month, isLast, hasRows, onChange }: MonthChoiceProps): ReactNode {
  return (
    <>
      <div className={styles.month}>
        <IconButton
          icon="chevronLeft"
          label="The month before"
          onClick={() => onChange(shiftMonth(month, -1))}
        />
        <span aria-live="polite">{formatMonth(month)}</span>
        <IconButton
          icon="chevronRight"
          label="The month after"
          disabled={isLast}
          onClick={() => onChange(shiftMonth(month, 1))}
        />
      </div>
      {hasRows && (
        <a href={statementCsvPath(month)} download className={`${buttonStyles.button} ${buttonStyles.plain}`}>
          CSV
        </a>
      )}
    </>
  );
}

interface MonthComparisonProps {
  readonly statement: Statement;
  readonly before: Statement;
  readonly now: number;
}

/** Compares the month's cost with that of the month before. */
function MonthComparison({ statement, before, now }: MonthComparisonProps): ReactNode {
  const { beforeUsd, untilUsd, moreUsd } = compareMonths(statement, before, now);
  const last = formatMonth(shiftMonth(statement.month, -1));
  const until = untilUsd === undefined ? undefined : `${last}, up to day ${new Date(now).getUTCDate()}`;
  return (
    <dl className={styles.comparison} aria-label="This month against the month before">
      <Figure label={formatMonth(statement.month)} value={formatUsd(statement.total.costUsd)} />
      {until !== undefined && <Figure label={until} value={formatUsd(untilUsd ?? 0)} />}
      <Figure label={last} value={formatUsd(beforeUsd)} />
      <Figure label="Change" value={changeText(moreUsd)} />
    </dl>
  );
}

function changeText(moreUsd: number): string {
  if (moreUsd === 0) return "None";
  return moreUsd > 0 ? `${formatUsd(moreUsd)} more` : `${formatUsd(-moreUsd)} less`;
}

function Figure({ label, value }: { readonly label: string; readonly value: string }): ReactNode {
  return (
    <div className={styles.figure}>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}
