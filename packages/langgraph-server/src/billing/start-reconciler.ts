import type { Clock } from "@throughline/ai-core";
import type { FactStore } from "@throughline/billing";
import type { ServiceObserver } from "../thread/service-observer.js";
import { type Poller, poll } from "../timing/poll.js";
import type { ServiceBilling } from "./service-billing.js";

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

/** Looks up what calls without a price have cost, at intervals. Safe on any number of instances at once. */
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
