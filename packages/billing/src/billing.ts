import {
  type Caller,
  type Clock,
  type KeyResolver,
  systemClock,
  ThroughlineError,
} from "@throughline/ai-core";
import type { BudgetStore } from "./budgets/budget-store.js";
import { type BudgetGuard, createBudgetGuard } from "./budgets/budgets.js";
import type { BudgetDecision } from "./budgets/decide-budget.js";
import { hashKey } from "./keys/resolvers.js";
import type { Charge, LedgerStore, UnbilledRun, UsageUnit } from "./ledger/ledger.js";
import type { LitellmAdmin } from "./litellm/admin.js";
import type { MeterObserver } from "./meter/events.js";
import { createMeteredFetch, type MeteredRun } from "./meter/metered-fetch.js";
import { createModelList, type ModelList, type ModelListing, requireAllowedModel } from "./models/models.js";
import type { AttributeCall } from "./reconcile/adopt.js";
import type { FactStore } from "./reconcile/fact-store.js";
import { type ReconcileReport, type ReconcilerOptions, reconcile } from "./reconcile/reconcile.js";
import type { SpendSource } from "./reconcile/spend-log.js";

export interface BillingObserver extends MeterObserver {
  /** A fallback answered with a model that is not on the tenant's list. It was charged. */
  servedUnlisted?(run: MeteredRun, servedModel: string): void;
  /** LiteLLM's log had the price of a call: one that was in doubt, or one of a LangGraph server. */
  pricedByLog?(unit: UsageUnit, charge: Charge): void;
  /** LiteLLM's log did not show all calls of a LangGraph server's run in time. Notified once. */
  billingFailedOf?(run: UnbilledRun): void;
  /** An account or a person is near its budget. */
  nearBudget?(caller: Caller, decision: BudgetDecision): void;
}

export interface BillingOptions {
  /** LiteLLM's address. */
  readonly baseUrl: string;
  readonly admin: LitellmAdmin;
  readonly keys: KeyResolver;
  readonly ledger: LedgerStore;
  readonly facts: FactStore;
  readonly budgets: BudgetStore;
  readonly sources: readonly SpendSource[];
  /** The service key, under which list prices are read. */
  readonly serviceKey: string;
  readonly policyOf?: ReconcilerOptions["policyOf"];
  /** Without it calls of LangGraph servers are not charged. */
  readonly adopt?: AttributeCall;
  readonly currentRun?: () => MeteredRun | undefined;
  readonly observer?: BillingObserver;
  readonly clock?: Clock;
  readonly send?: typeof fetch;
}

/** The parts of billing, assembled. */
export interface Billing {
  /** Meters what goes to LiteLLM: for our own models, and for `installFetch`. */
  readonly fetch: typeof fetch;
  readonly ledger: LedgerStore;
  readonly budgets: BudgetGuard;
  /** Models that the caller may choose from. */
  modelsOf(caller: Caller): Promise<ModelListing>;
  /**
   * Throws unless a run with this model may start: `model_not_allowed`, `models_unavailable`, `budget_exceeded`. Of a run that
   * leaves its graph the model, only the budget is checked; each of its calls is checked when it is made.
   */
  requireStart(caller: Caller, model: string | undefined): Promise<void>;
  /** Makes one pass over each source. */
  reconcile(): Promise<readonly ReconcileReport[]>;
}

export function createBilling(options: BillingOptions): Billing {
  const { admin, keys, ledger, facts, sources, serviceKey, observer = {}, clock = systemClock } = options;
  const models = createModelList({ admin, clock });
  const budgets = createBudgetGuard({ ledger, budgets: options.budgets, clock });

  async function requireBudget(caller: Caller): Promise<void> {
    const decision = await budgets.require(caller.billingAccountId, caller.subject);
    if (decision.kind === "near") observer.nearBudget?.(caller, decision);
  }

  /** LiteLLM does not check a fallback against the key's models. */
  async function reportUnlisted(run: MeteredRun, token: string, servedModel: string): Promise<void> {
    const listing = await models.of(token).catch(() => undefined);
    if (listing && !listing.models.some(({ id }) => id === servedModel))
      observer.servedUnlisted?.(run, servedModel);
  }

  const tokenOf = (caller: Caller) => keys.resolveKey(caller.virtualKeyId, caller.billingAccountId);

  return {
    ledger,
    budgets,
    fetch: createMeteredFetch({
      baseUrl: options.baseUrl,
      ledger,
      keys,
      clock,
      ...(options.send && { send: options.send }),
      ...(options.currentRun && { currentRun: options.currentRun }),
      checks: [
        async ({ model, token }) => requireAllowedModel((await models.of(token)).models, model),
        ({ run }) => requireBudget(run.caller),
      ],
      onAnswer({ run, model, token }, { status, servedModel }) {
        // LiteLLM refused the key, or a model that our list has.
        if (status === 400 || status === 401 || status === 403) models.expire(token);
        if (servedModel !== null && servedModel !== model) void reportUnlisted(run, token, servedModel);
      },
      observer: {
        ...observer,
        priced(unit, charge) {
          budgets.note(unit.account, unit.subject, charge.amount);
          observer.priced?.(unit, charge);
        },
      },
    }),
    modelsOf: async (caller) => models.of(await tokenOf(caller)),
    async requireStart(caller, model) {
      if (model !== undefined) requireAllowedModel((await models.of(await tokenOf(caller))).models, model);
      await requireBudget(caller);
    },
    async reconcile() {
      const pricesOf = await listPrices(models, serviceKey);
      const reports: ReconcileReport[] = [];
      for (const source of sources) {
        const { policyOf, adopt } = options;
        reports.push(
          await reconcile({
            ledger,
            facts,
            source,
            pricesOf,
            clock,
            masterKeyHash: hashKey(serviceKey),
            onPriced: (unit, charge) => observer.pricedByLog?.(unit, charge),
            onBillingFailed: (run) => observer.billingFailedOf?.(run),
            ...(policyOf && { policyOf }),
            ...(adopt && { adopt }),
          }),
        );
      }
      return reports;
    },
  };
}

/** Without a list no price is known, and nothing is estimated. */
async function listPrices(
  models: ModelList,
  serviceKey: string,
): Promise<NonNullable<ReconcilerOptions["pricesOf"]>> {
  try {
    const { models: listed } = await models.of(serviceKey);
    return (model) => listed.find(({ id }) => id === model);
  } catch (error) {
    if (error instanceof ThroughlineError) return () => undefined;
    throw error;
  }
}
