import {
  type BudgetLimits,
  type BudgetRow,
  type BudgetState,
  decideBudget,
  formatUsd,
  PERIODS,
  type Picodollars,
  parseUsd,
  periodEnd,
  toUsdNumber,
} from "@throughline/billing";
import { z } from "zod";

/** In the database an amount has 64 bits, which is a little more. */
const MAX_USD = 9_000_000;

const limitSchema = z
  .string()
  .regex(/^\d{1,7}(?:\.\d{1,12})?$/, "must be US dollars as 5 or 0.25")
  .refine((text) => Number(text) <= MAX_USD, `must be at most ${MAX_USD}`)
  .nullable()
  .default(null)
  .describe("US dollars as a decimal; null: no limit.");

export const budgetSchema = z
  .strictObject({
    day: limitSchema,
    month: limitSchema,
    softPercent: z
      .number()
      .int()
      .min(1)
      .max(100)
      .nullable()
      .default(null)
      .describe("Warns from this share of a limit on; null: never."),
  })
  .refine(
    ({ day, month }) => day !== null || month !== null,
    "must limit day or month; DELETE takes a budget away",
  );

export const shownBudgetSchema = z.object({
  subject: z.string().nullable().describe("Whose it is; null: the account's as a whole."),
  day: z.string().nullable(),
  month: z.string().nullable(),
  softPercent: z.number().nullable(),
});

export const shownBudgetStateSchema = z.object({
  of: z.enum(["account", "person"]),
  period: z.enum(PERIODS).describe("In UTC."),
  limitUsd: z.number().describe("For display."),
  limit: z.string(),
  spentUsd: z.number().describe("For display."),
  spent: z.string(),
  share: z.number().describe("Of the limit, 1 is all of it."),
  softPercent: z.number().nullable(),
  standing: z
    .enum(["within", "near", "exceeded"])
    .describe("`near`: past the soft limit. `exceeded`: calls are refused."),
  renewedAt: z.iso.datetime(),
});

export function toLimits({ day, month, softPercent }: z.output<typeof budgetSchema>): BudgetLimits {
  return { day: toAmount(day), month: toAmount(month), softPercent };
}

export function showBudget({ subject, limits }: BudgetRow): z.output<typeof shownBudgetSchema> {
  return {
    subject: subject ?? null,
    day: limits.day === null ? null : formatUsd(limits.day),
    month: limits.month === null ? null : formatUsd(limits.month),
    softPercent: limits.softPercent,
  };
}

export function showState(state: BudgetState, now: number): z.output<typeof shownBudgetStateSchema> {
  const { of, period, limit, spent, softPercent } = state;
  return {
    of,
    period,
    limitUsd: toUsdNumber(limit),
    limit: formatUsd(limit),
    spentUsd: toUsdNumber(spent),
    spent: formatUsd(spent),
    share: limit === 0n ? 1 : Number((spent * 10_000n) / limit) / 10_000,
    softPercent,
    standing: decideBudget([state]).kind,
    renewedAt: new Date(periodEnd(period, now)).toISOString(),
  };
}

function toAmount(text: string | null): Picodollars | null {
  return text === null ? null : (parseUsd(text) ?? null);
}
