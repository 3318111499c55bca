import { createSimulatedClock } from "@throughline/ai-core";
import { afterAll, beforeAll, describe } from "vitest";
import { createPostgresBudgetStore } from "../budgets/budget-store.js";
import { createPostgresKeyStore } from "../keys/key-store.js";
import type { LedgerDatabase } from "../ledger/ledger.js";
import { createPostgresLedgerStore } from "../ledger/postgres-ledger.js";
import { createPostgresFactStore } from "../reconcile/fact-store.js";
import { type PostgresFixture, startPostgresFixture } from "../testing/postgres-fixture.js";
import { runAdoptionConformance } from "./run-adoption-conformance.js";
import { runBudgetConformance } from "./run-budget-conformance.js";
import { runKeyConformance } from "./run-key-conformance.js";
import { runLedgerConformance } from "./run-ledger-conformance.js";
import { runReconcileConformance } from "./run-reconcile-conformance.js";

// One server for all of them: it takes longer to start than most of them take.
let fixture: PostgresFixture;
let database: LedgerDatabase;
beforeAll(async () => {
  fixture = await startPostgresFixture();
  database = await fixture.openDatabase();
});
afterAll(() => fixture.close());

describe("the ledger in PostgreSQL", () => {
  runLedgerConformance(() => createPostgresLedgerStore(database));
});

describe("keys in PostgreSQL", () => {
  runKeyConformance(async () => createPostgresKeyStore(await fixture.openDatabase()));
});

describe("budgets in PostgreSQL", () => {
  runBudgetConformance(async () => createPostgresBudgetStore(await fixture.openDatabase()));
});

describe("adoption in PostgreSQL", () => {
  runAdoptionConformance(async () => {
    const own = await fixture.openDatabase();
    return { ledger: createPostgresLedgerStore(own), facts: createPostgresFactStore(own) };
  });
});

describe("reconciliation in PostgreSQL", () => {
  runReconcileConformance(async () => {
    const own = await fixture.openDatabase();
    const clock = createSimulatedClock(Date.now());
    return { ledger: createPostgresLedgerStore(own), facts: createPostgresFactStore(own), clock };
  }, 3);
});
