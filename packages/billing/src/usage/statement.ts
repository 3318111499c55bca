import { periodEnd } from "../budgets/period.js";
import type { LedgerStore, RunBill, UsageGroup, UsageRow } from "../ledger/ledger-store.js";

const GROUPS = ["day", "agent", "model", "person"] as const satisfies readonly UsageGroup[];
type StatementGroup = (typeof GROUPS)[number];

/** What an account used in a month. */
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

/** From the first moment of a month (`2026-11`) to that of the next. */
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
