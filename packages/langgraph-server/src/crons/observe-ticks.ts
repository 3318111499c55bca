import type { ServiceObserver } from "../thread/service-observer.js";
import type { CronTick } from "./cron.js";
import type { CronStore } from "./cron-store.js";

/** Tells what became of each tick where it is written down: once, whichever instance decided it and however often it was tried. */
export function observeTicks(store: CronStore, observer: Pick<ServiceObserver, "cronTicked">): CronStore {
  function tell({ outcome, missed }: Pick<CronTick, "outcome" | "missed">): void {
    if (outcome.kind !== "pending") observer.cronTicked({ outcome: outcome.kind, missed });
  }

  return {
    ...store,
    async claimDue(limit, leaseMs) {
      const claimed = await store.claimDue(limit, leaseMs);
      claimed.decided.forEach(tell);
      return claimed;
    },
    async settle(tick, outcome) {
      const isNews = await store.settle(tick, outcome);
      if (isNews) tell({ ...tick, outcome });
      return isNews;
    },
  };
}
