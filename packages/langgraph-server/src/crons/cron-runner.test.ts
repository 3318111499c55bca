import { createSimulatedClock, StoreOutage, ThroughlineError } from "@throughline/ai-core";
import { createMemoryDatabase } from "@throughline/thread-log";
import { afterEach, describe, expect, it } from "vitest";
import { createMemoryCronStore } from "../server/memory/memory-crons.js";
import type { Cron, TickOutcome } from "./cron.js";
import { type CronRunner, startCronRunner } from "./cron-runner.js";
import { manualTick } from "./plan-tick.js";

const scope = { account: "acme" };
const cron: Cron = {
  ...scope,
  id: "one",
  virtualKeyId: "key-1",
  definition: {
    agent: "langgraph:sentinel",
    threadName: "watch",
    schedule: "every 1 d",
    timeZone: "UTC",
    input: {},
    model: null,
    overlap: "skip",
    missed: "skip",
    jitterMs: 0,
    enabled: false,
  },
  anchorAt: 0,
  nextAt: undefined,
  dueAt: undefined,
  createdAt: 0,
  updatedAt: 0,
};

describe("The delivery of ticks", () => {
  let runner: CronRunner;
  afterEach(() => runner.close());

  /** The outcome of a tick whose first deliveries fail with this error. */
  async function outcomeAfter(error: Error, failures: number): Promise<TickOutcome | undefined> {
    let now = 0;
    const store = createMemoryCronStore(createMemoryDatabase(), () => now);
    await store.create(scope.account, 1, () => cron);
    await store.addTick(scope, cron.id, 0, (one, at) => manualTick(one, at, "tick"));
    let attempts = 0;
    runner = startCronRunner({
      store,
      deliver: async () => {
        attempts += 1;
        if (attempts <= failures) throw error;
        return { kind: "started", runId: "run-1" };
      },
      clock: createSimulatedClock(),
      everyMs: 1_000_000,
      random: () => 0,
      observer: { failed() {} },
    });
    for (let round = 0; round <= failures; round += 1) {
      await runner.now();
      now += 61_000;
    }
    return (await store.find(scope, cron.id))?.lastTick?.outcome;
  }

  it("waits for a store that is away, however long that takes", async () => {
    expect(await outcomeAfter(new StoreOutage("away"), 25)).toEqual({ kind: "started", runId: "run-1" });
  });

  it("gives up after ten attempts that failed otherwise, and at once when no attempt can help", async () => {
    expect(await outcomeAfter(new Error("x"), 9)).toMatchObject({ kind: "started" });
    expect(await outcomeAfter(new Error("x"), 25)).toMatchObject({ kind: "failed", code: "internal" });
    const refused = new ThroughlineError("forbidden", "No.");
    expect(await outcomeAfter(refused, 1)).toMatchObject({ kind: "failed", code: "forbidden" });
  });
});
