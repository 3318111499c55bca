import {
  formatUsd,
  type Picodollars,
  type RunBill,
  type Statement,
  toUsdNumber,
  UNIT_STATES,
  USAGE_GROUPS,
  type UsageGroup,
  type UsageRow,
  type UsageUnit,
  usageCsv,
} from "@throughline/billing";
import { z } from "zod";

const count = z.number().int().nonnegative();

/** An amount twice: as a number to show, and as exact text to add up. */
const costShape = {
  costUsd: z.number().describe("For display. Sums of these are not exact."),
  cost: z.string().describe("US dollars as an exact decimal."),
};

const billSchema = z.object({
  calls: count,
  inputTokens: count,
  outputTokens: count,
  ...costShape,
  unpriced: count.describe("Calls whose price is not known yet. They are not in the cost."),
});

export const shownUsageRowSchema = z.object({
  key: z
    .string()
    .describe("A UTC day, an agent's id, a model, a subject or a run's id; empty where a call has none."),
  ...billSchema.shape,
});

const rows = z.array(shownUsageRowSchema);

export const shownStatementSchema = z.object({
  month: z.string(),
  subject: z.string().nullable().describe("null: of the whole account."),
  isFinal: z.boolean().describe("The month is over and every call in it has a price."),
  total: billSchema,
  by: z.object({ day: rows, agent: rows, model: rows, person: rows }),
});

export const shownUnitSchema = z.object({
  id: z.string().describe("LiteLLM's call id, and the reference of the receipt to come."),
  state: z.enum(UNIT_STATES),
  reason: z.string().nullable().describe("Why it has no price."),
  openedAt: z.iso.datetime(),
  endedAt: z.iso
    .datetime()
    .nullable()
    .describe("When it ended without a price; null while it may be under way."),
  runId: z.string(),
  attempt: count,
  agentId: z.string(),
  subject: z.string().nullable(),
  model: z.string().nullable(),
  inputTokens: count,
  outputTokens: count,
  requestId: z.string(),
  traceId: z.string(),
});

function showCost(amount: Picodollars): { readonly costUsd: number; readonly cost: string } {
  return { costUsd: toUsdNumber(amount), cost: formatUsd(amount) };
}

function showBill({ amount, calls, inputTokens, outputTokens, unpriced }: RunBill) {
  return { calls, inputTokens, outputTokens, ...showCost(amount), unpriced };
}

export function showUsageRow(row: UsageRow): z.output<typeof shownUsageRowSchema> {
  return { key: row.key, ...showBill(row) };
}

export function showStatement(
  { month, isFinal, total, by }: Statement,
  subject: string | undefined,
): z.output<typeof shownStatementSchema> {
  return {
    month,
    subject: subject ?? null,
    isFinal,
    total: showBill(total),
    by: {
      day: by.day.map(showUsageRow),
      agent: by.agent.map(showUsageRow),
      model: by.model.map(showUsageRow),
      person: by.person.map(showUsageRow),
    },
  };
}

export function showUnit(unit: UsageUnit): z.output<typeof shownUnitSchema> {
  const { unitId, state, reason, runId, attempt, graphId, seen, requestId, traceId } = unit;
  return {
    id: unitId,
    state,
    reason,
    openedAt: new Date(unit.openedAt).toISOString(),
    endedAt: unit.doubtedAt === null ? null : new Date(unit.doubtedAt).toISOString(),
    runId,
    attempt,
    agentId: graphId,
    subject: unit.subject ?? null,
    model: seen.servedModel ?? unit.model,
    inputTokens: seen.inputTokens,
    outputTokens: seen.outputTokens,
    requestId,
    traceId,
  };
}

/** Without the header line. */
export function usageLines(by: UsageGroup, page: readonly UsageRow[]): string {
  return usageCsv(by, page).slice(usageCsv(by, []).length);
}

/** One table: a line for the total, then those of each group, told apart by the first column. */
export function statementCsv({ total, by }: Statement): string {
  const header = usageCsv("day", []).replace(/^day/, "by,key");
  const line = (group: string, row: UsageRow) => `${group},${usageLines("day", [row])}`;
  const groups = USAGE_GROUPS.filter((group) => group !== "run");
  return [
    header,
    line("total", { key: "", ...total }),
    ...groups.flatMap((group) => by[group].map((row) => line(group, row))),
  ].join("");
}
