import type { Caller } from "@throughline/ai-core";
import type { ItemizedBill, LedgerStore } from "@throughline/billing";

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
  /** What a run has cost, all attempts; `undefined` where nothing is metered. */
  billOf(runId: string): Promise<ItemizedBill | undefined>;
  /** Records a run whose calls are found in LiteLLM's log later, or not at all. */
  readonly addUnbilled: LedgerStore["addUnbilled"];
}
