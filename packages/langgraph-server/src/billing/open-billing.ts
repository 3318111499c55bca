import {
  type CallLabels,
  type Clock,
  type KeyResolver,
  ThroughlineError,
  type UsagePort,
} from "@throughline/ai-core";
import {
  type AdoptableRun,
  type Billing,
  type BudgetGuard,
  type BudgetStore,
  cachedKeys,
  createAdoption,
  createBilling,
  createBudgetGuard,
  createJsonlSource,
  createLitellmAdmin,
  createModelTripwire,
  createSpendLogSource,
  environmentKeys,
  firstKeyOf,
  generatedKeys,
  itemizedBillOf,
  type KeyRing,
  type KeyStore,
  type LitellmAdmin,
  type ModelCallbacks,
  NOTHING_SEEN,
  parseKeyRing,
  storedKeys,
  toUsageFact,
  withSystemTenant,
} from "@throughline/billing";
import { OFFLINE_MODEL_NAME } from "@throughline/langgraph-models";
import type { RunRegistry } from "@throughline/thread-log";
import { parseRunRow, payerOf } from "../thread/run-request.js";
import type { ServiceObserver } from "../thread/service-observer.js";
import type { BillingOptions } from "./billing-options.js";
import type { BillingStores } from "./billing-stores.js";
import type { RunBilling } from "./run-billing.js";
import type { ServiceBilling } from "./service-billing.js";

export interface BillingContext {
  readonly stores: BillingStores;
  /** Knows whose a run is that a LangGraph server made calls for. */
  readonly registry: Pick<RunRegistry, "findInAccount">;
  /** Sends requests to LiteLLM. Not a metered one. */
  readonly send: typeof fetch;
  /** Of runs that name no model. */
  readonly defaultModel: string | undefined;
  readonly usage: UsagePort;
  readonly clock: Clock;
  readonly observer: Pick<ServiceObserver, "billed" | "failed">;
}

export interface OpenedBilling extends ServiceBilling, RunBilling {
  /** Meters requests to LiteLLM; absent where there is none. */
  readonly fetch: typeof fetch | undefined;
  /** For the graphs' runs: notices models that are called past the meter. */
  readonly callbacks: ModelCallbacks | undefined;
}

/** Billing without LiteLLM: the offline model costs nothing, so nothing is metered. */
export function openOfflineBilling({ stores, clock, defaultModel }: BillingContext): OpenedBilling {
  const offline = {
    id: defaultModel ?? OFFLINE_MODEL_NAME,
    inputPrice: 0n,
    outputPrice: 0n,
    maxInputTokens: null,
    maxOutputTokens: null,
    takesImages: true,
    callsTools: true,
    reasons: true,
  };
  const guard = createBudgetGuard({ ...stores, clock });
  return {
    ...stores,
    budgets: toldOfChanges(stores.budgets, guard),
    guard,
    fetch: undefined,
    callbacks: undefined,
    isMetered: false,
    modelsOf: async () => ({ models: [offline], loadedAt: clock.now(), isStale: false }),
    defaultModelOf: async () => defaultModel,
    requireStart: async (_caller, model) => (model === OFFLINE_MODEL_NAME ? undefined : model),
    billOf: async () => undefined,
    async addUnbilled() {},
    reconcile: async () => [],
  };
}

/** Billing through LiteLLM. */
export function openBilling(options: BillingOptions, context: BillingContext): OpenedBilling {
  const { stores, registry, send, usage, clock, observer, defaultModel } = context;
  const { baseUrl, serviceKey, spendLog, policyOf } = options;
  const admin = createLitellmAdmin({ baseUrl, serviceKey, send });
  const keys = keysOf(options, stores.virtualKeys, admin);
  const tripwire = createModelTripwire({ onUnmetered: () => observer.billed({ kind: "unmetered" }) });
  const source =
    spendLog === undefined
      ? createSpendLogSource({ admin, clock })
      : createJsonlSource(spendLog, { onBadLine: () => observer.billed({ kind: "bad_line" }) });

  function record(fact: Parameters<typeof toUsageFact>): void {
    usage
      .record(toUsageFact(...fact))
      .catch((error: unknown) => observer.failed("Usage was not recorded.", error));
  }

  const billing: Billing = createBilling({
    baseUrl,
    admin,
    keys,
    adopt: createAdoption({ keys, findRun: (labels) => adoptableRun(registry, labels) }),
    ledger: stores.ledger,
    facts: stores.facts,
    budgets: stores.budgets,
    sources: [source],
    serviceKey,
    policyOf,
    clock,
    send,
    observer: {
      opened: tripwire.opened,
      priced(unit, charge) {
        observer.billed({ kind: "priced", amount: charge.amount });
        record([unit, charge.seen, charge.amount]);
      },
      doubted(unit, reason) {
        observer.billed({ kind: "in_doubt", reason });
        record([unit, NOTHING_SEEN, null]);
      },
      pricedByLog: (unit, { seen, amount }) => record([unit, seen, amount]),
      refused: (code) => observer.billed({ kind: "refused", code }),
      billingFailed: (_unit, error) => observer.billed({ kind: "failed", error }),
      servedOther: () => observer.billed({ kind: "served_other" }),
      servedUnlisted: (_run, model) => observer.billed({ kind: "served_unlisted", model }),
      escaped: ({ origin }) => observer.billed({ kind: "escaped", origin }),
      billingFailedOf: ({ runId, account, missing }) =>
        observer.billed({ kind: "billing_failed", runId, account, calls: missing }),
      nearBudget: ({ billingAccountId }) =>
        observer.billed({ kind: "near_budget", account: billingAccountId }),
    },
  });

  return {
    ...stores,
    budgets: toldOfChanges(stores.budgets, billing.budgets),
    guard: billing.budgets,
    fetch: billing.fetch,
    callbacks: tripwire.callbacks,
    isMetered: true,
    modelsOf: (caller) => billing.modelsOf(caller).catch(withoutKey),
    async defaultModelOf(caller) {
      if (defaultModel !== undefined) return defaultModel;
      const { models } = await billing.modelsOf(caller).catch(withoutKey);
      return models[0]?.id ?? "";
    },
    async requireStart(caller, model) {
      await billing.requireStart(caller, model).catch(withoutKey);
      return model;
    },
    billOf: (runId) => itemizedBillOf(stores.ledger, runId),
    addUnbilled: stores.ledger.addUnbilled,
    async reconcile() {
      const reports = await billing.reconcile();
      for (const report of reports) observer.billed({ kind: "reconciled", report });
      return reports;
    },
  };
}

/** It is the account's key that is missing or refused: a 401 would tell a person to sign in again. */
function withoutKey(error: unknown): never {
  if (!(error instanceof ThroughlineError) || error.code !== "unauthorized") throw error;
  throw new ThroughlineError(
    "forbidden",
    "This account has no key that LiteLLM accepts, so it can't call models. Ask the operator of this service for one.",
    { cause: error },
  );
}

/** Labels are a claim: whose the run is, and with which key it was started, is what the registry says. */
async function adoptableRun(
  registry: BillingContext["registry"],
  { accountId, runId }: CallLabels,
): Promise<AdoptableRun | undefined> {
  const run = await registry.findInAccount(accountId, runId);
  if (!run) return undefined;
  const request = parseRunRow(run.request);
  if (!request.ok || request.value.work !== "graph") return undefined;
  const { billingAccountId: account, subject, virtualKeyId } = payerOf(request.value);
  return { runId, account, subject, virtualKeyId, threadId: run.thread.threadId, graphId: run.graphId };
}

/** A limit that is set here counts here at once. */
function toldOfChanges(budgets: BudgetStore, guard: BudgetGuard): BudgetStore {
  return {
    ...budgets,
    async set(account, subject, limits) {
      await budgets.set(account, subject, limits);
      guard.changed(account);
    },
  };
}

/** The keys that are kept in the database, and what they are sealed with. */
export function keptKeys(
  { keySecrets }: Pick<BillingOptions, "keySecrets">,
  store: KeyStore,
): { readonly store: KeyStore; readonly ring: KeyRing } | undefined {
  return keySecrets === undefined ? undefined : { store, ring: parseKeyRing(keySecrets) };
}

function keysOf(options: BillingOptions, store: KeyStore, admin: LitellmAdmin): KeyResolver {
  const { virtualKeys, makesKeys, isSystemAccount, serviceKey } = options;
  const named = environmentKeys(virtualKeys);
  const kept = keptKeys(options, store);
  const ofTenants = !kept
    ? named
    : firstKeyOf(named, makesKeys ? generatedKeys({ ...kept, admin }) : storedKeys(kept.store, kept.ring));
  return cachedKeys(withSystemTenant(ofTenants, { isSystemAccount, serviceKey }));
}
