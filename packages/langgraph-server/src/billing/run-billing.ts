import type { Caller } from "@throughline/ai-core";
import type { RunBill } from "@throughline/billing";

/** Billing as starts and drivers of runs see it. */
export interface RunBilling {
  /**
   * The model that a run is started with: the one asked for, or the default. Throws unless it may start: `model_not_allowed`,
   * `models_unavailable`, `unauthorized` (no key), `budget_exceeded`.
   */
  modelOf(caller: Caller, asked: string | undefined): Promise<string>;
  /** Whether model calls go by a meter. */
  readonly isMetered: boolean;
  /** What a run has cost, all attempts; `undefined` where nothing is metered. */
  billOf(runId: string): Promise<RunBill | undefined>;
}
