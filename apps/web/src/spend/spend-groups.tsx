"use client";

import { type ReactNode, useState } from "react";
import { Tabs } from "../agent-ui/primitives/tabs";
import { useAgentCatalog } from "../data/agents";
import {
  type Budget,
  type Group,
  type Statement,
  type UsageFilter,
  type UsageRow,
  useDaySeries,
} from "../data/usage";
import { DayChart, dayBudget, stackDays } from "./day-chart";
import { formatMonth, shiftMonth } from "./months";
import { SpendRuns, UsageTable } from "./usage-table";

const GROUP_LABELS: Readonly<Record<Group, string>> = {
  day: "Day",
  agent: "Agent",
  model: "Model",
  person: "Person",
};

/** Number of series with their own colour, dearest first; the rest is one series. */
const SERIES = 5;

interface SpendGroupsProps {
  readonly statement: Statement;
  readonly budgets: readonly Budget[];
}

/** The month by day, agent, model or person: a chart, its table, and the runs behind a row. */
export function SpendGroups({ statement, budgets }: SpendGroupsProps): ReactNode {
  const { month, by, subject } = statement;
  const { byId } = useAgentCatalog();
  const [group, setGroup] = useState<Group>("day");
  const [openKey, setOpenKey] = useState<string>();
  // One person's usage has no groups by person.
  const groups: readonly Group[] =
    subject === null ? ["day", "agent", "model", "person"] : ["day", "agent", "model"];
  function nameOf(key: string): string {
    if (key !== "") return group === "agent" ? (byId.get(key)?.name ?? key) : key;
    return group === "person" ? "The account, or a deleted person" : "Not known";
  }
  const filterOf = (key: string) => rowFilter(month, group, key);
  const openFilter = openKey === undefined ? undefined : filterOf(openKey);
  const parts = group === "day" ? [] : dearestOf(by[group].filter(({ key }) => filterOf(key)));
  const { value: days = [] } = useDaySeries(parts.flatMap(({ key }) => filterOf(key) ?? []));
  const stacks = stackDays(
    month,
    by.day,
    parts.map(({ key }, at) => ({ name: nameOf(key), rows: days[at] ?? [] })),
    group === "day" ? "All" : "Rest",
  );
  return (
    <Tabs
      label="Spend by"
      tabs={groups.map((id) => ({ id, label: GROUP_LABELS[id] }))}
      value={group}
      onChange={(next) => {
        setGroup(next);
        setOpenKey(undefined);
      }}
    >
      <DayChart stacks={stacks} budget={dayBudget(budgets, month)} isTabled={group === "day"} />
      <UsageTable
        label={GROUP_LABELS[group]}
        rows={by[group]}
        nameOf={nameOf}
        canOpen={(key) => filterOf(key) !== undefined}
        openKey={openKey}
        onOpen={(key) => setOpenKey(key === openKey ? undefined : key)}
      />
      {openKey !== undefined && openFilter && (
        <SpendRuns
          key={`${group} ${openKey}`}
          title={group === "day" ? openKey : `${nameOf(openKey)}, ${formatMonth(month)}`}
          filter={openFilter}
          onClose={() => setOpenKey(undefined)}
        />
      )}
    </Tabs>
  );
}

function dearestOf(rows: readonly UsageRow[]): readonly UsageRow[] {
  return rows.toSorted((a, b) => b.costUsd - a.costUsd).slice(0, SERIES);
}

const DAY_MS = 86_400_000;

/** Filter for the whole of a month. */
function monthFilter(month: string): UsageFilter {
  return { from: `${month}-01`, to: `${shiftMonth(month, 1)}-01` };
}

/** Filter for the runs behind a row; `undefined` where the service can't filter: calls without a model or person. */
export function rowFilter(month: string, group: Group, key: string): UsageFilter | undefined {
  if (key === "") return undefined;
  const range = monthFilter(month);
  switch (group) {
    case "day":
      return { from: key, to: new Date(Date.parse(key) + DAY_MS).toISOString().slice(0, 10) };
    case "agent":
      return { ...range, agentId: key };
    case "model":
      return { ...range, model: key };
    case "person":
      return { ...range, subject: key };
  }
}
