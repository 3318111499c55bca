import { formatUsd, parseUsd, type ReconcileReport, type SpendFact } from "@throughline/billing";
import type {
  shownStatementSchema,
  shownUnbilledRunSchema,
  shownUnitSchema,
  shownUsageRowSchema,
} from "@throughline/langgraph-server/wire";
import type { z } from "zod";
import { table } from "../terminal/terminal.js";

type Row = z.output<typeof shownUsageRowSchema>;

const NUMBERS = ["CALLS", "TOKENS IN", "TOKENS OUT", "USD", "NOT PRICED"];

function numbersOf({ calls, inputTokens, outputTokens, cost, unpriced }: Omit<Row, "key">): string[] {
  return [
    String(calls),
    String(inputTokens),
    String(outputTokens),
    cost,
    unpriced === 0 ? "" : String(unpriced),
  ];
}

/** Rows of usage and their sum. */
export function usageText(by: string, rows: readonly Row[]): string {
  const sum = (read: (row: Row) => number) => rows.reduce((total, row) => total + read(row), 0);
  const total = {
    calls: sum(({ calls }) => calls),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cost: formatUsd(rows.reduce((total, { cost }) => total + (parseUsd(cost) ?? 0n), 0n)),
    costUsd: 0,
    unpriced: sum(({ unpriced }) => unpriced),
  };
  return table([
    [by.toUpperCase(), ...NUMBERS],
    ...rows.map((row) => [row.key === "" ? "-" : row.key, ...numbersOf(row)]),
    ["total", ...numbersOf(total)],
  ]);
}

export function statementText({ month, isFinal, by }: z.output<typeof shownStatementSchema>): string {
  const head = `Statement of ${month}${isFinal ? "" : ", not final"}\n`;
  return [head, ...Object.entries(by).map(([group, rows]) => usageText(group, rows))].join("\n");
}

export function unresolvedText(units: readonly z.output<typeof shownUnitSchema>[]): string {
  return table([
    ["OPENED", "STATE", "WHY", "AGENT", "MODEL", "PERSON", "RUN", "CALL"],
    ...units.map((unit) => [
      unit.openedAt,
      unit.state,
      unit.reason ?? "-",
      unit.agentId.replace(/^langgraph:/, ""),
      unit.model ?? "-",
      unit.subject ?? "-",
      unit.runId,
      unit.id,
    ]),
  ]);
}

export function unbilledText(runs: readonly z.output<typeof shownUnbilledRunSchema>[]): string {
  return table([
    ["ENDED", "STATE", "CALLS", "MISSING", "AGENT", "PERSON", "RUN"],
    ...runs.map((run) => [
      run.endedAt,
      run.state,
      String(run.modelCalls),
      String(run.missing),
      run.agentId.replace(/^langgraph:/, ""),
      run.subject ?? "-",
      run.runId,
    ]),
  ]);
}

/** A row of LiteLLM's log as JSON. */
export function showFact({ spend, endedAt, ...fact }: SpendFact) {
  return { ...fact, cost: formatUsd(spend), endedAt: new Date(endedAt).toISOString() };
}

export function unclaimedText(facts: readonly SpendFact[]): string {
  return table([
    ["ENDED", "KEY", "MODEL", "USD", "TOKENS IN", "TOKENS OUT", "CALL"],
    ...facts
      .map(showFact)
      .map((fact) => [
        fact.endedAt,
        fact.keyHash.slice(0, 12),
        fact.modelGroup ?? "-",
        fact.cost,
        String(fact.inputTokens),
        String(fact.outputTokens),
        fact.callId,
      ]),
  ]);
}

const REPORT_WORDS: readonly (readonly [keyof ReconcileReport, string])[] = [
  ["facts", "rows read"],
  ["charged", "charged"],
  ["corrected", "corrected"],
  ["unresolved", "unresolved"],
  ["writtenOff", "written off"],
  ["estimated", "estimated"],
  ["unclaimed", "unclaimed rows"],
  ["awaited", "calls awaited"],
  ["billingFailed", "calls not billed"],
];

export function reconcileText(reports: readonly ReconcileReport[]): string {
  const counts = REPORT_WORDS.map(([name, words]) => {
    const sum = reports.reduce((total, report) => total + report[name], 0);
    return `  ${words.padEnd(18)}${String(sum).padStart(10)}`;
  });
  return ["Reconciled with LiteLLM's log", ...counts, ""].join("\n");
}
