import {
  type Caller,
  type CallLabels,
  type Clock,
  type KeyResolver,
  ThroughlineError,
  type UsagePort,
} from "@throughline/ai-core";
import {
  type AttributableRun,
  type Billing,
  type BudgetGuard,
  type BudgetStore,
  cachedKeys,
  createAdoption,
  createBilling,
  createBudgetGuard,
  createJsonlSource,
  createLitellmAdmin,
  createMemoryBudgetStore,
  createMemoryFactStore,
  createMemoryKeyStore,
  createMemoryLedgerStore,
  createPostgresBudgetStore,
  createPostgresFactStore,
  createPostgresKeyStore,
  createPostgresLedgerStore,
  createSpendLogSource,
  createUnmeteredCallDetector,
  environmentKeys,
  type FactStore,
  firstKeyOf,
  generatedKeys,
  type ItemizedBill,
  itemizedBillOf,
  type KeyRing,
  type KeyStore,
  type LedgerDatabase,
  type LedgerStore,
  type LitellmAdmin,
  type ModelCallbacks,
  type ModelListing,
  NO_USAGE_SEEN,
  parseKeyRing,
  type ReconcileReport,
  storedKeys,
  toUsageFact,
  type UnresolvedPolicy,
  withSystemTenant,
} from "@throughline/billing";
import { OFFLINE_MODEL_NAME } from "@throughline/langgraph-models";
import type { RunRegistry } from "@throughline/thread-log";
import type { ServiceObserver } from "../operations/observer.js";
import { type Poller, poll } from "../operations/poller.js";
import { decodeRunSpec, payerOf } from "../threads/run-spec.js";

export interface BillingContext {
  readonly stores: BillingStores;
  /** Knows whose a run is that a LangGraph server made calls for. */
  readonly registry: Pick<RunRegistry, "findInAccount">;
  /** Sends requests to LiteLLM. Not a metered one. */
  readonly send: typeof fetch;
  /** The model of runs that name none. */
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
    budgets: invalidatingGuard(stores.budgets, guard),
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
  const tripwire = createUnmeteredCallDetector({ onUnmetered: () => observer.billed({ kind: "unmetered" }) });
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
    adopt: createAdoption({ keys, findRun: (labels) => attributableRun(registry, labels) }),
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
        record([unit, NO_USAGE_SEEN, null]);
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
    budgets: invalidatingGuard(stores.budgets, billing.budgets),
    guard: billing.budgets,
    fetch: billing.fetch,
    callbacks: tripwire.callbacks,
    isMetered: true,
    modelsOf: (caller) => billing.modelsOf(caller).catch(asMissingKey),
    async defaultModelOf(caller) {
      if (defaultModel !== undefined) return defaultModel;
      const { models } = await billing.modelsOf(caller).catch(asMissingKey);
      return models[0]?.id ?? "";
    },
    async requireStart(caller, model) {
      await billing.requireStart(caller, model).catch(asMissingKey);
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

/** Rethrows as an error of the account's key, which is missing or refused: a 401 would make a person sign in again. */
function asMissingKey(error: unknown): never {
  if (!(error instanceof ThroughlineError) || error.code !== "unauthorized") throw error;
  throw new ThroughlineError(
    "forbidden",
    "This account has no key that LiteLLM accepts, so it can't call models. Ask the operator of this service for one.",
    { cause: error },
  );
}

/** The run of a labelled call. Labels are a claim: the run's account and key are those of the registry. */
async function attributableRun(
  registry: BillingContext["registry"],
  { accountId, runId }: CallLabels,
): Promise<AttributableRun | undefined> {
  const run = await registry.findInAccount(accountId, runId);
  if (!run) return undefined;
  const request = decodeRunSpec(run.request);
  if (!request.ok || request.value.work !== "graph") return undefined;
  const { billingAccountId: account, subject, virtualKeyId } = payerOf(request.value);
  return { runId, account, subject, virtualKeyId, threadId: run.thread.threadId, graphId: run.graphId };
}

/** A limit that is set here counts here at once. */
function invalidatingGuard(budgets: BudgetStore, guard: BudgetGuard): BudgetStore {
  return {
    ...budgets,
    async set(account, subject, limits) {
      await budgets.set(account, subject, limits);
      guard.changed(account);
    },
  };
}

/** The store of keys in the database, and the secrets they are sealed with. */
export function storedVirtualKeys(
  { keySecrets }: Pick<BillingOptions, "keySecrets">,
  store: KeyStore,
): { readonly store: KeyStore; readonly ring: KeyRing } | undefined {
  return keySecrets === undefined ? undefined : { store, ring: parseKeyRing(keySecrets) };
}

function keysOf(options: BillingOptions, store: KeyStore, admin: LitellmAdmin): KeyResolver {
  const { virtualKeys, makesKeys, isSystemAccount, serviceKey } = options;
  const named = environmentKeys(virtualKeys);
  const sealed = storedVirtualKeys(options, store);
  const ofTenants = !sealed
    ? named
    : firstKeyOf(
        named,
        makesKeys ? generatedKeys({ ...sealed, admin }) : storedKeys(sealed.store, sealed.ring),
      );
  return cachedKeys(withSystemTenant(ofTenants, { isSystemAccount, serviceKey }));
}

/** Billing as starts and drivers of runs see it. */
export interface RunBilling {
  /** The account's model where none is chosen; `undefined` where it has none. */
  defaultModelOf(caller: Caller): Promise<string | undefined>;
  /**
   * Throws unless a run may start: `budget_exceeded`, and of a run with a model `model_not_allowed`, `models_unavailable` and
   * `forbidden` (no key). Resolves with the model to give the graph: the offline model is none of a provider's, so it becomes
   * `undefined`. Without a model no key is required here; the meter requires it at the first call to LiteLLM.
   */
  requireStart(caller: Caller, model: string | undefined): Promise<string | undefined>;
  /** Whether model calls go by a meter. */
  readonly isMetered: boolean;
  /** The cost of a run, all attempts; `undefined` where nothing is metered. */
  billOf(runId: string): Promise<ItemizedBill | undefined>;
  /** Records a run whose calls are found in LiteLLM's log later, or not at all. */
  readonly addUnbilled: LedgerStore["addUnbilled"];
}

/** Billing as the service's routes see it. The ledger and the budgets are there whether or not a LiteLLM is configured. */
export interface ServiceBilling {
  /** Whether models are available, by a LiteLLM. Without one graphs that bring a script reply from it. */
  readonly isMetered: boolean;
  readonly ledger: LedgerStore;
  readonly facts: FactStore;
  readonly budgets: BudgetStore;
  readonly guard: BudgetGuard;
  /** The models available to the caller. Without LiteLLM: the offline model. */
  modelsOf(caller: Caller): Promise<ModelListing>;
  /** One pass over each source of prices; none without LiteLLM. */
  reconcile(): Promise<readonly ReconcileReport[]>;
}

export interface BillingStores {
  readonly ledger: LedgerStore;
  readonly facts: FactStore;
  readonly budgets: BudgetStore;
  readonly virtualKeys: KeyStore;
}

export function memoryBillingStores(clock: Clock): BillingStores {
  return {
    ledger: createMemoryLedgerStore(clock),
    facts: createMemoryFactStore(),
    budgets: createMemoryBudgetStore(),
    virtualKeys: createMemoryKeyStore(),
  };
}

export function postgresBillingStores(database: LedgerDatabase): BillingStores {
  return {
    ledger: createPostgresLedgerStore(database),
    facts: createPostgresFactStore(database),
    budgets: createPostgresBudgetStore(database),
    virtualKeys: createPostgresKeyStore(database),
  };
}

export interface ReconcilerJobOptions {
  readonly billing: Pick<ServiceBilling, "reconcile">;
  readonly facts: Pick<FactStore, "prune">;
  readonly everyMs: number;
  readonly clock: Clock;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "failed">;
}

/** Rows of LiteLLM's log are of no use once their units are settled and old. */
const KEEP_FACTS_MS = 30 * 86_400_000;
const PRUNED_AT_ONCE = 1_000;

/** Looks up prices of unpriced calls, at intervals. Safe on any number of instances at once. */
export function startReconciler(options: ReconcilerJobOptions): Poller {
  const { billing, facts, clock, observer, everyMs, random } = options;
  return poll({
    clock,
    random,
    everyMs,
    firstAfterMs: everyMs * random(),
    async once() {
      await billing.reconcile();
      await facts.prune(clock.now() - KEEP_FACTS_MS, PRUNED_AT_ONCE);
      return undefined;
    },
    failed: (error) =>
      observer.failed("Calls without a price could not be looked up; it is tried again.", error),
  });
}

/** Validated settings of model calls and billing. */
export interface BillingOptions {
  /** LiteLLM's address. */
  readonly baseUrl: string;
  /** For what no tenant may do: prices, making keys, reading spend logs; and for the calls of the system tenant. */
  readonly serviceKey: string;
  /** A JSON object of key id to token. */
  readonly virtualKeys?: string | undefined;
  /** The secrets that seal keys in the database, as `ID:SECRET` pairs; without them none are stored there. */
  readonly keySecrets?: string | undefined;
  /** An account's key is made when it first calls a model. */
  readonly makesKeys: boolean;
  /** Whether an account's calls are made with the service key. */
  readonly isSystemAccount: (account: string) => boolean;
  /** The file of LiteLLM's logger; where absent, its spend logs are requested. */
  readonly spendLog?: string | undefined;
  /** How often calls without a price are looked up; never where absent. */
  readonly reconcileEveryMs?: number | undefined;
  readonly policyOf: (account: string) => UnresolvedPolicy;
}
