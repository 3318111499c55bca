import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresFixture, type PostgresFixture } from "../../testing/postgres-fixture.js";
import { openTestPool } from "../../testing/test-pool.js";
import { inTransaction } from "./transaction.js";

const LOCK = "select pg_advisory_xact_lock(20)";

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

describe("A transaction", () => {
  let fixture: PostgresFixture;
  let pool: pg.Pool;
  beforeAll(async () => {
    fixture = await openPostgresFixture();
    pool = openTestPool(fixture.url);
  });
  afterAll(async () => {
    await pool?.end();
    await fixture?.close();
  });

  it("of a process that stands still is ended by the database, so that others get what it locked", async () => {
    const held = gate();
    const woken = gate();
    const paused = inTransaction(
      pool,
      async (client) => {
        await client.query(LOCK);
        held.open();
        await woken.opened;
        await client.query("select 1");
      },
      { standstillMs: 50 },
    );
    const refused = expect(paused).rejects.toThrow();
    await held.opened;
    await inTransaction(pool, (client) => client.query(LOCK));
    woken.open();
    await refused;
  });

  it("that goes on is left alone, and its connection is as it was", async () => {
    const asked = "show idle_in_transaction_session_timeout";
    const one = openTestPool(fixture.url, 1);
    const inside = await inTransaction(one, async (client) => (await client.query(asked)).rows[0]);
    const after = (await one.query(asked)).rows[0];
    expect(inside).toEqual({ idle_in_transaction_session_timeout: "15s" });
    expect(after).toEqual({ idle_in_transaction_session_timeout: "0" });
    await one.end();
  });
});
