import { z } from "zod";
import type { LedgerDatabase } from "../ledger/ledger.js";
import { amount } from "../ledger/unit-row.js";
import type { BudgetLimits } from "./decide-budget.js";

export interface BudgetRow {
  /** `undefined` is the account as a whole. */
  readonly subject: string | undefined;
  readonly limits: BudgetLimits;
}

export interface BudgetStore {
  /** The limits of the account, and of the person if one is named. */
  limitsOf(
    account: string,
    subject: string | undefined,
  ): Promise<{ readonly account: BudgetLimits | undefined; readonly person: BudgetLimits | undefined }>;
  /** Sets limits, or takes them away. */
  set(account: string, subject: string | undefined, limits: BudgetLimits | undefined): Promise<void>;
  /** The account's own first, then people by name. */
  list(account: string): Promise<readonly BudgetRow[]>;
  delete(account: string, subject?: string): Promise<void>;
}

const rowSchema = z.object({
  subject: z.string(),
  day_pico: amount.nullable(),
  month_pico: amount.nullable(),
  soft_percent: z.number().nullable(),
});
const COLUMNS = Object.keys(rowSchema.shape).join(", ");

export function createPostgresBudgetStore({ pool, schema }: LedgerDatabase): BudgetStore {
  const table = `${schema}.budgets`;

  async function query(text: string, values: readonly unknown[]): Promise<readonly BudgetRow[]> {
    const { rows } = await pool.query<object>(text, [...values]);
    return rows.map(toRow);
  }

  return {
    async limitsOf(account, subject) {
      const rows = await query(
        `select ${COLUMNS} from ${table} where account = $1 and subject in ('', coalesce($2::text, ''))`,
        [account, subject ?? null],
      );
      return {
        account: rows.find((row) => row.subject === undefined)?.limits,
        person: rows.find((row) => row.subject !== undefined)?.limits,
      };
    },
    async set(account, subject, limits) {
      if (!limits) {
        await query(`delete from ${table} where account = $1 and subject = $2`, [account, subject ?? ""]);
        return;
      }
      // Locks the row it replaces.
      await query(
        `insert into ${table} (account, subject, day_pico, month_pico, soft_percent) values ($1, $2, $3, $4, $5)
         on conflict (account, subject) do update
         set day_pico = excluded.day_pico, month_pico = excluded.month_pico, soft_percent = excluded.soft_percent`,
        [account, subject ?? "", limits.day, limits.month, limits.softPercent],
      );
    },
    list: (account) =>
      query(`select ${COLUMNS} from ${table} where account = $1 order by subject`, [account]),
    async delete(account, subject) {
      await query(`delete from ${table} where account = $1 and ($2::text is null or subject = $2)`, [
        account,
        subject ?? null,
      ]);
    },
  };
}

function toRow(row: unknown): BudgetRow {
  const { subject, day_pico, month_pico, soft_percent } = rowSchema.parse(row);
  return {
    subject: subject === "" ? undefined : subject,
    limits: { day: day_pico, month: month_pico, softPercent: soft_percent },
  };
}
