import {
  formatUsd,
  type Picodollars,
  type RunBill,
  type Statement,
  toUsdNumber,
  UNIT_STATES,
  type UnbilledRun,
  USAGE_GROUPS,
  type UsageGroup,
  type UsageRow,
  type UsageUnit,
  usageCsv,
} from "@throughline/billing";
import type { RunRecord } from "@throughline/thread-log";
import { z } from "zod";
import { decodeRunSpec } from "../../threads/run-spec.js";
import { visibilityOf, visibilitySchema } from "../../threads/thread-address.js";

const count = z.number().int().nonnegative();

/** An amount in two forms: a number to show, and exact text to add up. */
const costShape = {
  costUsd: z.number().describe("For display. Sums of these are not exact."),
  cost: z.string().describe("US dollars as an exact decimal."),
};

/** The use and cost of calls, as every response reports them. */
export const billSchema = z.object({
  calls: count,
  inputTokens: count,
  outputTokens: count,
  ...costShape,
  unpriced: count.describe("Calls whose price is not known yet. They are not in the cost."),
});

function showCost(amount: Picodollars): { readonly costUsd: number; readonly cost: string } {
  return { costUsd: toUsdNumber(amount), cost: formatUsd(amount) };
}

export function showBill({ amount, calls, inputTokens, outputTokens, unpriced }: RunBill) {
  return { calls, inputTokens, outputTokens, ...showCost(amount), unpriced };
}

export const shownUsageRowSchema = z.object({
  key: z
    .string()
    .describe("A UTC day, an agent's id, a model, a subject or a run's id; empty where a call has none."),
  ...billSchema.shape,
  run: z
    .object({
      agentId: z.string(),
      threadName: z.string().nullable().describe("null: another person's."),
      visibility: visibilitySchema,
      createdAt: z.iso.datetime(),
    })
    .nullish()
    .describe("By run only; null of one that is no longer listed."),
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

export const shownUnbilledRunSchema = z.object({
  runId: z.string(),
  state: z
    .enum(["awaited", "billing_failed"])
    .describe("`awaited`: LiteLLM's log may still show its calls. `billing_failed`: it did not in time."),
  agentId: z.string(),
  subject: z.string().nullable(),
  endedAt: z.iso.datetime(),
  modelCalls: count.describe("Calls that its graph made."),
  missing: count.describe("Of these, calls that are not in the ledger."),
});

export function showUnbilledRun(run: UnbilledRun): z.output<typeof shownUnbilledRunSchema> {
  const { runId, state, graphId, subject, endedAt, modelCalls, missing } = run;
  return {
    runId,
    state,
    agentId: graphId,
    subject: subject ?? null,
    endedAt: new Date(endedAt).toISOString(),
    modelCalls,
    missing,
  };
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

/** The run behind a row. The thread name is left out if the thread is another person's. */
export function showSpender({ thread, graphId, createdAt, request }: RunRecord, caller: string | undefined) {
  const visibility = visibilityOf(thread);
  const row = decodeRunSpec(request);
  const isSeen = row.ok && (visibility === "account" || thread.subject === caller);
  return {
    agentId: graphId,
    threadName: isSeen ? row.value.stateKey.slice(row.value.stateKey.indexOf("/") + 1) : null,
    visibility,
    createdAt: new Date(createdAt).toISOString(),
  };
}

/** Encodes rows as CSV, without the header row. */
export function usageLines(by: UsageGroup, page: readonly UsageRow[]): string {
  return usageCsv(by, page).slice(usageCsv(by, []).length);
}

/** Encodes a statement as one table: a row for the total, then the rows of each group, which the first column names. */
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
