import { createSimulatedClock } from "@throughline/ai-core";
import { cloneDatabase } from "../conformance/model/normal-form.js";
import { attempt, referenceOn } from "../conformance/model/operation.js";
import type { ModelSubject } from "../conformance/model/run-store-model.js";
import { createMemoryDatabase } from "../memory/database.js";

/** The reference itself: what it does is held against what holds of any database. */
export function createMemoryModelSubject(): ModelSubject {
  let clock = createSimulatedClock(1_000_000);
  let database = createMemoryDatabase(clock);
  return {
    async clear() {
      clock = createSimulatedClock(1_000_000);
      database = createMemoryDatabase(clock);
    },
    async perform(scheduler, tasks) {
      const outcomes = tasks.map(async ({ perform }) => {
        await scheduler.schedule(Promise.resolve());
        clock.advance(1);
        return attempt(() => perform(referenceOn(database)));
      });
      while (scheduler.count() > 0) await scheduler.waitOne();
      return Promise.all(outcomes);
    },
    read: async () => ({ ...cloneDatabase(database), clock: createSimulatedClock(clock.now() + 1) }),
  };
}
