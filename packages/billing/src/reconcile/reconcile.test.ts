import { createSimulatedClock } from "@throughline/ai-core";
import { describe } from "vitest";
import { runAdoptionConformance } from "../conformance/run-adoption-conformance.js";
import { runReconcileConformance } from "../conformance/run-reconcile-conformance.js";
import { createMemoryFactStore, createMemoryLedgerStore } from "../memory.js";

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
