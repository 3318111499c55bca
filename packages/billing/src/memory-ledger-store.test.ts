import { describe } from "vitest";
import { runLedgerConformance } from "./conformance/run-ledger-conformance.js";
import { createMemoryLedgerStore } from "./memory.js";

describe("the ledger in memory", () => {
  runLedgerConformance(createMemoryLedgerStore);
});
