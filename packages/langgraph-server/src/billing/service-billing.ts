import type { Caller } from "@throughline/ai-core";
import type {
  BudgetGuard,
  BudgetStore,
  FactStore,
  LedgerStore,
  ModelListing,
  ReconcileReport,
} from "@throughline/billing";

/** Billing as the service's routes see it. The ledger and the budgets are there whether or not a LiteLLM is configured. */
export interface ServiceBilling {
  readonly ledger: LedgerStore;
  readonly facts: FactStore;
  readonly budgets: BudgetStore;
  readonly guard: BudgetGuard;
  /** What the caller may choose from. Without LiteLLM: the offline model. */
  modelsOf(caller: Caller): Promise<ModelListing>;
  /** One pass over each source of prices; none without LiteLLM. */
  reconcile(): Promise<readonly ReconcileReport[]>;
}
