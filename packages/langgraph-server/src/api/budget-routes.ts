import { subjectSchema } from "@throughline/ai-core";
import { type BudgetState, PERIODS, periodStart } from "@throughline/billing";
import { z } from "zod";
import type { ServiceBilling } from "../billing/service-billing.js";
import { bodyOf, checked } from "../http/checked-request.js";
import type { RouteContext, RouteParts, SignedIn } from "../http/ingress.js";
import type { ActionRoute } from "../http/route-table.js";
import {
  budgetSchema,
  showBudget,
  shownBudgetSchema,
  shownBudgetStateSchema,
  showState,
  toLimits,
} from "./budget-wire.js";
import { seesEveryone, spendScopeOf } from "./spend-scope.js";

const personSchema = z.object({ subject: subjectSchema });

/** `/budgets`: what may be spent, of the account as a whole and of each of its people. */
export function budgetRoutes(parts: RouteParts<{ readonly billing: ServiceBilling }>): ActionRoute[] {
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
      who: SignedIn,
      subject: string | undefined,
      limits: ReturnType<typeof toLimits> | undefined,
    ) {
      who.requireReach("everyone");
      const nothing = { day: null, month: null, softPercent: null };
      const budget = showBudget({ subject, limits: limits ?? nothing });
      who.note({ target: { budget }, ...(subject !== undefined && { person: subject }) });
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
          answer: { status: 200, description: "The budget", schema: shownBudgetSchema },
          errors: ["invalid_input"],
        },
        async handle(c, who) {
          const subject = subjectOf(c);
          return c.json(await set(who, subject, toLimits(await bodyOf(who, budgetSchema))));
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
          answer: { status: 204, description: "There is none any more" },
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
        answer: {
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
        answer: {
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
      (c) => checked(personSchema, c.req.param(), "path").subject,
    ),
  ];
}
