"use client";

import { type ReactNode, useState } from "react";
import { useCaller } from "../console/caller";
import { useAgentCatalog } from "../console/use-agent-catalog";
import { IconButton } from "../design/button";
import buttonStyles from "../design/button.module.css";
import { EmptyState } from "../design/empty-state";
import { ListProblem } from "../design/list-problem";
import { PageFrame } from "../design/page-frame";
import { Skeleton } from "../design/skeleton";
import { Tabs } from "../design/tabs";
import {
  type Group,
  type Statement,
  statementCsvPath,
  useBudgets,
  useStatement,
} from "../service/queries/usage";
import { BudgetBars } from "./budget-bars";
import { Cost } from "./cost";
import { unpricedWords } from "./cost-words";
import { monthOf, monthWords, shiftMonth } from "./month";
import styles from "./usage-page.module.css";
import { UsageTable } from "./usage-table";

const GROUP_WORDS: Readonly<Record<Group, string>> = {
  day: "Day",
  agent: "Agent",
  model: "Model",
  person: "Person",
};

/** What a month's model calls cost, and how much of the budgets is spent. */
export function UsagePage(): ReactNode {
  const refusal = useCaller().refusal("see_spend");
  const [now] = useState(Date.now);
  const [month, setMonth] = useState(() => monthOf(now));
  const isAllowed = refusal === undefined;
  const statement = useStatement(month, isAllowed);
  const budgets = useBudgets(isAllowed);
  const { value, problem } = statement;
  const isEmpty = value?.total.calls === 0;
  return (
    <PageFrame
      title="Usage"
      lead={value && !isEmpty ? <Lead statement={value} /> : "What model calls cost."}
      {...(isAllowed && {
        actions: (
          <MonthChoice month={month} isLast={month >= monthOf(now)} hasRows={!isEmpty} onChange={setMonth} />
        ),
      })}
    >
      {!isAllowed && <EmptyState title="Not for your role">{refusal}</EmptyState>}
      {budgets.problem && <ListProblem message={budgets.problem.message} onRetry={budgets.refresh} />}
      {budgets.value && <BudgetBars budgets={budgets.value} />}
      {statement.isLoading && <Skeleton label="Loading usage" lines={6} />}
      {problem && <ListProblem message={problem.message} onRetry={statement.refresh} />}
      {isEmpty && (
        <EmptyState title={`Nothing was spent in ${monthWords(month)}`}>
          Model calls show here with their cost when a run makes them through LiteLLM. The offline model costs
          nothing and is not counted.
        </EmptyState>
      )}
      {value && !isEmpty && <Groups statement={value} />}
    </PageFrame>
  );
}

function Lead({ statement: { total, isFinal } }: { readonly statement: Statement }): ReactNode {
  const calls = total.calls === 1 ? "1 model call" : `${total.calls.toLocaleString("en")} model calls`;
  const open = unpricedWords(total.unpriced);
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
        <span aria-live="polite">{monthWords(month)}</span>
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

function Groups({ statement: { by, subject } }: { readonly statement: Statement }): ReactNode {
  const { byId } = useAgentCatalog();
  const [group, setGroup] = useState<Group>("day");
  // Of one person's usage there is no more to tell by person.
  const groups: readonly Group[] =
    subject === null ? ["day", "agent", "model", "person"] : ["day", "agent", "model"];
  function nameOf(key: string): string {
    if (key !== "") return group === "agent" ? (byId.get(key)?.name ?? key) : key;
    return group === "person" ? "The account, or a deleted person" : "Not known";
  }
  return (
    <Tabs
      label="Usage by"
      tabs={groups.map((id) => ({ id, label: GROUP_WORDS[id] }))}
      value={group}
      onChange={setGroup}
    >
      <UsageTable label={GROUP_WORDS[group]} rows={by[group]} nameOf={nameOf} />
    </Tabs>
  );
}
