import { createSimulatedClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { runAdoptionConformance } from "../conformance/run-adoption-conformance.js";
import { runReconcileConformance } from "../conformance/run-reconcile-conformance.js";
import { createMemoryLedgerStore } from "../ledger/memory-ledger-store.js";
import { growingLog } from "../testing/growing-log.js";
import { startReconciler } from "./create-reconciler.js";
import { createMemoryFactStore } from "./memory-fact-store.js";
import type { SpendSource } from "./spend-source.js";

describe("reconciliation in memory", () => {
  runReconcileConformance(async () => {
    const clock = createSimulatedClock(Date.now());
    return { ledger: createMemoryLedgerStore(clock), facts: createMemoryFactStore(), clock };
  }, 40);
});

describe("adoption in memory", () => {
  runAdoptionConformance(async () => ({
    ledger: createMemoryLedgerStore(),
    facts: createMemoryFactStore(),
  }));
});

it("runs again and again until it is stopped, also after a pass that failed", async () => {
  const clock = createSimulatedClock();
  const log = growingLog();
  let passes = 0;
  let errors = 0;
  const source: SpendSource = {
    ...log,
    async isComplete() {
      passes += 1;
      if (passes === 2) throw new Error("away");
      return true;
    },
  };
  const running = startReconciler({
    ledger: createMemoryLedgerStore(clock),
    facts: createMemoryFactStore(),
    source,
    clock,
    everyMs: 1_000,
    onError: () => {
      errors += 1;
    },
  });
  for (const wanted of [1, 2, 3]) {
    await expect.poll(() => clock.pending()).toBe(1);
    clock.advance(1_000);
    await expect.poll(() => passes).toBe(wanted);
  }
  await expect.poll(() => clock.pending()).toBe(1);
  await running.stop();
  expect([errors, clock.pending()]).toEqual([1, 0]);
});
