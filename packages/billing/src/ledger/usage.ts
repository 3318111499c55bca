import type { PayloadOf, UsageFact } from "@throughline/ai-core";
import type {
  LedgerStore,
  NewUnit,
  ResponseUsage,
  RunBill,
  UsageGroup,
  UsageRow,
  UsageUnit,
} from "./ledger.js";
import { formatUsd, type Picodollars, toUsdNumber } from "./money.js";
import { periodEnd } from "./period.js";

/** A unit as the rest of the system sees a model call, whatever executed it. No amount: not priced yet. */
export function toUsageFact(unit: NewUnit, seen: ResponseUsage, amount: Picodollars | null): UsageFact {
  return {
    usageUnitId: unit.unitId,
    runId: unit.runId,
    attempt: unit.attempt,
    billingAccountId: unit.account,
    virtualKeyId: unit.virtualKeyId,
    executorType: unit.executorType,
    sourceSystem: "litellm",
    sourceReference: unit.unitId,
    model: seen.servedModel ?? unit.model,
    inputTokens: seen.inputTokens,
    outputTokens: seen.outputTokens,
    costUsd: amount === null ? null : toUsdNumber(amount),
    graphId: unit.graphId,
    threadId: unit.threadId,
    traceId: unit.traceId,
  };
}

/** A run's bill with the units that it is the sum of, oldest first. */
export interface ItemizedBill extends RunBill {
  /** The first of them, where there are very many. */
  readonly units: readonly UsageUnit[];
}

/** A run's log holds one entry with all of these. */
const UNITS_ON_A_BILL = 200;

export async function itemizedBillOf(
  ledger: Pick<LedgerStore, "billOf" | "unitsOf">,
  runId: string,
): Promise<ItemizedBill> {
  const [bill, units] = await Promise.all([ledger.billOf(runId), ledger.unitsOf(runId, UNITS_ON_A_BILL)]);
  return { ...bill, units };
}

/**
 * A run's `usage` with what the ledger knows of it, summed over all its calls and attempts. While a call has no price the sum
 * is not complete, and its cost is that of the others. Where the ledger has no call of the run, what was counted stays.
 */
export function billUsage(counted: PayloadOf<"usage">, bill: ItemizedBill): PayloadOf<"usage"> {
  if (bill.calls === 0) return { ...counted, complete: counted.model_calls === 0 };
  // More were made than the ledger has: past the meter, or on a server whose calls are found in LiteLLM's log.
  const complete = bill.unpriced === 0 && bill.calls >= counted.model_calls;
  // A call that broke off reported no tokens to the meter, and perhaps some to the graph.
  const tokens = (metered: number, seen: number) => (complete ? metered : Math.max(metered, seen));
  const input_tokens = tokens(bill.inputTokens, counted.input_tokens);
  const output_tokens = tokens(bill.outputTokens, counted.output_tokens);
  return {
    model: counted.model,
    model_calls: bill.calls,
    input_tokens,
    output_tokens,
    total_tokens: input_tokens + output_tokens,
    cost_usd: bill.calls === bill.unpriced ? null : toUsdNumber(bill.amount),
    complete,
    calls: bill.units.map(({ unitId, model, seen, billed }) => ({
      usage_unit_id: unitId,
      model: seen.servedModel ?? model,
      input_tokens: seen.inputTokens,
      output_tokens: seen.outputTokens,
      cost_usd: billed === null ? null : toUsdNumber(billed),
    })),
  };
}

const GROUPS = ["day", "agent", "model", "person"] as const satisfies readonly UsageGroup[];
type StatementGroup = (typeof GROUPS)[number];

/** Usage of an account in a month. */
export interface Statement {
  readonly account: string;
  /** `2026-11`, in UTC. */
  readonly month: string;
  readonly total: RunBill;
  readonly by: Readonly<Record<StatementGroup, readonly UsageRow[]>>;
  /** The month is over and every call in it has a price. Corrections may still follow, as rows of their own. */
  readonly isFinal: boolean;
}

const NOTHING: RunBill = { calls: 0, inputTokens: 0, outputTokens: 0, amount: 0n, unpriced: 0 };

export function makeStatement(
  of: { readonly account: string; readonly month: string; readonly now: number },
  by: Statement["by"],
): Statement {
  const { account, month, now } = of;
  const total = by.day.reduce<RunBill>(
    (sum, row) => ({
      calls: sum.calls + row.calls,
      inputTokens: sum.inputTokens + row.inputTokens,
      outputTokens: sum.outputTokens + row.outputTokens,
      amount: sum.amount + row.amount,
      unpriced: sum.unpriced + row.unpriced,
    }),
    NOTHING,
  );
  return { account, month, total, by, isFinal: now >= monthRange(month).to && total.unpriced === 0 };
}

/** Range from the first moment of a month (`2026-11`) to that of the next. */
export function monthRange(month: string): { readonly from: number; readonly to: number } {
  const from = /^\d{4}-(0[1-9]|1[0-2])$/.test(month) ? Date.parse(`${month}-01T00:00:00.000Z`) : Number.NaN;
  if (Number.isNaN(from)) throw new RangeError(`A month is written as 2026-11, not "${month}".`);
  return { from, to: periodEnd("month", from) };
}

const PAGE = 500;

export async function readStatement(
  ledger: Pick<LedgerStore, "usage">,
  of: { readonly account: string; readonly month: string; readonly now: number },
): Promise<Statement> {
  const range = monthRange(of.month);
  async function all(by: UsageGroup): Promise<readonly UsageRow[]> {
    const rows: UsageRow[] = [];
    for (let after: string | undefined; ; ) {
      const page = await ledger.usage({ account: of.account, ...range, by, after, limit: PAGE });
      rows.push(...page.rows);
      if (page.next === undefined) return rows;
      after = page.next;
    }
  }
  return makeStatement(of, {
    day: await all("day"),
    agent: await all("agent"),
    model: await all("model"),
    person: await all("person"),
  });
}

/** Matches text that a spreadsheet would read as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Rows as RFC 4180 text with a header line. Amounts are exact decimals. */
export function usageCsv(by: UsageGroup, rows: readonly UsageRow[]): string {
  const header = [by, "calls", "input_tokens", "output_tokens", "cost_usd", "unpriced_calls"];
  const lines = rows.map((row) => [
    cell(row.key),
    row.calls,
    row.inputTokens,
    row.outputTokens,
    formatUsd(row.amount),
    row.unpriced,
  ]);
  return [header, ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

function cell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
