import { subjectSchema } from "@throughline/ai-core";
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
  periodStart,
  toUsdNumber,
} from "@throughline/billing";
import { z } from "zod";
import type { ServiceBilling } from "../../accounts/billing.js";
import { type App, type AuthorizedRequest, parseBody, parseInput, type RouteContext } from "../request.js";
import { seesEveryone, spendScopeOf } from "../request-scope.js";
import type { ActionRoute } from "../route.js";

const personSchema = z.object({ subject: subjectSchema });

/** `/budgets`: the spending limits of the account as a whole and of each of its people. */
export function budgetRoutes(parts: App<{ readonly billing: ServiceBilling }>): ActionRoute[] {
  const { service, clock } = parts;
  const { budgets, ledger } = service.billing;

  async function statesOf(account: string, of: BudgetState["of"], subject?: string): Promise<BudgetState[]> {
    const limits = (await budgets.limitsOf(account, subject))[of];
    if (!limits) return [];
    const now = clock.now();
    const sums = await ledger.spentSince(
      account,
      subject,
      PERIODS.map((period) => periodStart(period, now)),
    );
    return PERIODS.flatMap((period, index) => {
      const limit = limits[period];
      const spent = sums[index] ?? 0n;
      return limit === null ? [] : [{ of, period, limit, spent, softPercent: limits.softPercent }];
    });
  }

  /** The account's budget, or one person's. */
  function changesOf(
    path: string,
    whose: string,
    subjectOf: (c: RouteContext) => string | undefined,
  ): ActionRoute[] {
    const params = path.includes(":subject") ? { params: personSchema } : {};

    async function set(
      who: AuthorizedRequest,
      subject: string | undefined,
      limits: ReturnType<typeof toLimits> | undefined,
    ) {
      who.requireReach("everyone");
      const nothing = { day: null, month: null, softPercent: null };
      const budget = showBudget({ subject, limits: limits ?? nothing });
      who.audit({ target: { budget }, ...(subject !== undefined && { person: subject }) });
      await budgets.set(who.caller.billingAccountId, subject, limits);
      return budget;
    }

    return [
      {
        method: "PUT",
        path,
        action: "set_budgets",
        doc: {
          summary: `Set ${whose} budget`,
          description:
            "Replaces the one before. It counts from the next model call on, with what was spent already.",
          tag: "spending",
          ...params,
          body: budgetSchema,
          response: { status: 200, description: "The budget", schema: shownBudgetSchema },
          errors: ["invalid_input"],
        },
        async handle(c, who) {
          const subject = subjectOf(c);
          return c.json(await set(who, subject, toLimits(await parseBody(who, budgetSchema))));
        },
      },
      {
        method: "DELETE",
        path,
        action: "set_budgets",
        doc: {
          summary: `Delete ${whose} budget`,
          tag: "spending",
          ...params,
          response: { status: 204, description: "There is none any more" },
          errors: [],
        },
        async handle(c, who) {
          await set(who, subjectOf(c), undefined);
          return c.body(null, 204);
        },
      },
    ];
  }

  return [
    {
      method: "GET",
      path: "/budgets",
      action: "see_spend",
      doc: {
        summary: "List budgets",
        description: "All of the account's for an admin, else the caller's own.",
        tag: "spending",
        response: {
          status: 200,
          description: "The account's first, then people's by name",
          schema: z.object({ budgets: z.array(shownBudgetSchema) }),
        },
        errors: [],
      },
      async handle(c, who) {
        const subject = spendScopeOf(who);
        const rows = await budgets.list(who.caller.billingAccountId);
        const seen = rows.filter((row) => subject === undefined || row.subject === subject);
        return c.json({ budgets: seen.map(showBudget) });
      },
    },
    {
      method: "GET",
      path: "/budgets/me",
      action: "see_spend",
      doc: {
        summary: "Read how much of the caller's budgets is spent",
        description: "For an admin with the account's, which holds for everyone in it.",
        tag: "spending",
        response: {
          status: 200,
          description: "One entry a limit; none where there are none",
          schema: z.object({ budgets: z.array(shownBudgetStateSchema) }),
        },
        errors: [],
      },
      async handle(c, who) {
        const { billingAccountId: account, subject } = who.caller;
        const isAll = seesEveryone(who);
        who.requireReach(isAll || subject === undefined ? "everyone" : "own");
        const states = [
          ...(isAll ? await statesOf(account, "account") : []),
          ...(subject === undefined ? [] : await statesOf(account, "person", subject)),
        ];
        return c.json({ budgets: states.map((state) => showState(state, clock.now())) });
      },
    },
    ...changesOf("/budgets", "the account's", () => undefined),
    ...changesOf(
      "/budgets/:subject",
      "a person's",
      (c) => parseInput(personSchema, c.req.param(), "path").subject,
    ),
  ];
}

/** The largest amount; the database's 64 bits hold a little more. */
const MAX_USD = 9_000_000;

const limitSchema = z
  .string()
  .regex(/^\d{1,7}(?:\.\d{1,12})?$/, "must be US dollars as 5 or 0.25")
  .refine((text) => Number(text) <= MAX_USD, `must be at most ${MAX_USD}`)
  .nullable()
  .default(null)
  .describe("US dollars as a decimal; null: no limit.");

const budgetSchema = z
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

function toLimits({ day, month, softPercent }: z.output<typeof budgetSchema>): BudgetLimits {
  return { day: toAmount(day), month: toAmount(month), softPercent };
}

function showBudget({ subject, limits }: BudgetRow): z.output<typeof shownBudgetSchema> {
  return {
    subject: subject ?? null,
    day: limits.day === null ? null : formatUsd(limits.day),
    month: limits.month === null ? null : formatUsd(limits.month),
    softPercent: limits.softPercent,
  };
}

function showState(state: BudgetState, now: number): z.output<typeof shownBudgetStateSchema> {
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
