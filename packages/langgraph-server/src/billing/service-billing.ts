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
  /** Whether models answer, by a LiteLLM. Without one graphs that bring a script answer from it. */
  readonly isMetered: boolean;
  readonly ledger: LedgerStore;
  readonly facts: FactStore;
  readonly budgets: BudgetStore;
  readonly guard: BudgetGuard;
  /** What the caller may choose from. Without LiteLLM: the offline model. */
  modelsOf(caller: Caller): Promise<ModelListing>;
  /** One pass over each source of prices; none without LiteLLM. */
  reconcile(): Promise<readonly ReconcileReport[]>;
}
