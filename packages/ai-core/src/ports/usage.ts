import type { UsageFact } from "../usage/usage.js";

/** A model call that is about to happen: written before the request leaves, so that a crash can't hide it. */
export type UsageUnit = Pick<
  UsageFact,
  "usageUnitId" | "runId" | "attempt" | "billingAccountId" | "virtualKeyId" | "executorType" | "sourceSystem"
>;

export interface UsagePort {
  /** Records the call as in doubt. */
  open(unit: UsageUnit): Promise<void>;
  /** Settles it with what is known; a missing cost marks the run unbilled and never fails the answer. */
  settle(fact: UsageFact): Promise<void>;
}
