import type { UsageFact } from "../usage/usage.js";

/** Where model calls are recorded for billing. */
export interface UsagePort {
  /** Records a call with what is known of it; a missing cost marks the run unbilled and never fails the answer. */
  record(fact: UsageFact): Promise<void>;
}
