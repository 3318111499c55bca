import { afterAll, beforeAll, describe } from "vitest";
import { runLedgerConformance } from "../conformance/run-ledger-conformance.js";
import { type PostgresFixture, startPostgresFixture } from "../testing/postgres-fixture.js";
import type { LedgerDatabase } from "./ledger-database.js";
import { createPostgresLedgerStore } from "./postgres-ledger-store.js";

describe("the ledger in PostgreSQL", () => {
  let fixture: PostgresFixture;
  let database: LedgerDatabase;
  beforeAll(async () => {
    fixture = await startPostgresFixture();
    database = await fixture.openDatabase();
  });
  afterAll(() => fixture.close());

  runLedgerConformance(() => createPostgresLedgerStore(database));
});
