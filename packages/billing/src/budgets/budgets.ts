import { type Clock, systemClock, ThroughlineError } from "@throughline/ai-core";
import type { LedgerStore } from "../ledger/ledger.js";
import { formatUsd, type Picodollars } from "../ledger/money.js";
import { PERIODS, type Period, periodEnd, periodStart } from "../ledger/period.js";
import type { BudgetStore } from "./budget-store.js";
import { type BudgetDecision, type BudgetLimits, type BudgetState, decideBudget } from "./decide-budget.js";

export interface BudgetGuardOptions {
  readonly ledger: Pick<LedgerStore, "spentSince">;
  readonly budgets: Pick<BudgetStore, "limitsOf">;
  readonly clock?: Clock;
  /** How long limits and sums are used before they are read again; what this instance charges meanwhile is added. Default 5 s. */
  readonly freshMs?: number;
}

export interface BudgetGuard {
  decide(account: string, subject: string | undefined): Promise<BudgetDecision>;
  /** Throws `budget_exceeded` (402) with what is used up and when it is renewed. */
  require(account: string, subject: string | undefined): Promise<BudgetDecision>;
  /** Notifies the guard of a charge, so that it need not read it. */
  note(account: string, subject: string | undefined, amount: Picodollars): void;
  /** The account's limits were changed here: they are read again. */
  changed(account: string): void;
}

interface Sums {
  readonly until: number;
  readonly day: Picodollars;
  readonly month: Picodollars;
}

type Limits = Awaited<ReturnType<BudgetStore["limitsOf"]>>;

const MAX_HELD = 10_000;

/**
 * Checks budgets before runs and calls. Limits and sums are at most `freshMs` old: what other instances charge meanwhile, and
 * calls that are under way, can go over a limit by that much. Calls in doubt count when they are priced.
 */
export function createBudgetGuard(options: BudgetGuardOptions): BudgetGuard {
  const { ledger, budgets, clock = systemClock, freshMs = 5_000 } = options;
  const held = new Map<string, Sums>();
  const heldLimits = new Map<
    string,
    { readonly account: string; readonly until: number; readonly limits: Limits }
  >();
  const nameOf = (account: string, subject: string | undefined) => JSON.stringify([account, subject]);

  async function spent(account: string, subject: string | undefined): Promise<Sums> {
    const now = clock.now();
    const name = nameOf(account, subject);
    const known = held.get(name);
    if (known && known.until > now) return known;
    const starts = PERIODS.map((period) => periodStart(period, now));
    const [day = 0n, month = 0n] = await ledger.spentSince(account, subject, starts);
    // A sum of today is no sum of tomorrow.
    const sums = { day, month, until: Math.min(now + freshMs, periodEnd("day", now)) };
    if (held.size >= MAX_HELD) held.clear();
    held.set(name, sums);
    return sums;
  }

  async function limitsOf(account: string, subject: string | undefined): Promise<Limits> {
    const now = clock.now();
    const name = nameOf(account, subject);
    const known = heldLimits.get(name);
    if (known && known.until > now) return known.limits;
    const limits = await budgets.limitsOf(account, subject);
    if (heldLimits.size >= MAX_HELD) heldLimits.clear();
    heldLimits.set(name, { account, until: now + freshMs, limits });
    return limits;
  }

  async function statesOf(
    of: BudgetState["of"],
    limits: BudgetLimits | undefined,
    sums: () => Promise<Sums>,
  ): Promise<readonly BudgetState[]> {
    if (!limits || (limits.day === null && limits.month === null)) return [];
    const read = await sums();
    return PERIODS.flatMap((period) => {
      const limit = limits[period];
      return limit === null
        ? []
        : [{ of, period, limit, spent: read[period], softPercent: limits.softPercent }];
    });
  }

  async function decide(account: string, subject: string | undefined): Promise<BudgetDecision> {
    const limits = await limitsOf(account, subject);
    const states = await Promise.all([
      statesOf("account", limits.account, () => spent(account, undefined)),
      statesOf("person", limits.person, () => spent(account, subject)),
    ]);
    return decideBudget(states.flat());
  }

  return {
    decide,
    async require(account, subject) {
      const decision = await decide(account, subject);
      if (decision.kind === "exceeded") throw budgetExceeded(decision.state, clock.now());
      return decision;
    },
    note(account, subject, amount) {
      for (const name of new Set([nameOf(account, undefined), nameOf(account, subject)])) {
        const sums = held.get(name);
        if (sums) held.set(name, { ...sums, day: sums.day + amount, month: sums.month + amount });
      }
    },
    changed(account) {
      for (const [name, known] of heldLimits) if (known.account === account) heldLimits.delete(name);
    },
  };
}

const WHOSE: Readonly<Record<BudgetState["of"], string>> = { account: "The account's", person: "Your" };
const WHEN: Readonly<Record<Period, string>> = { day: "today", month: "this month" };

function budgetExceeded({ of, period, limit, spent }: BudgetState, now: number): ThroughlineError {
  const resetsAt = new Date(periodEnd(period, now)).toISOString();
  return new ThroughlineError(
    "budget_exceeded",
    `${WHOSE[of]} budget for ${WHEN[period]} is used up: ${formatUsd(spent)} of ${formatUsd(limit)} USD. ` +
      `It is renewed at ${resetsAt}; an owner of the account can raise it.`,
    { details: { of, period, limitUsd: formatUsd(limit), spentUsd: formatUsd(spent), resetsAt } },
  );
}
