import { createSimulatedClock, isStoreOutage } from "@throughline/ai-core";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { itNeeds } from "../../../../embedded-postgres/src/testing/it-needs.js";
import { fenceOf, newThread, notes, write } from "../../conformance/log-scene.js";
import { createThreadLog } from "../../log/create-thread-log.js";
import {
  findMissingDebianPostgres,
  launchDebianPostgres,
  replicateDebianPostgres,
} from "../../testing/launch-debian-postgres.js";
import { openTestDatabase } from "../../testing/test-database.js";
import { openTestPool } from "../../testing/test-pool.js";
import { openPostgres } from "../database.js";
import { createPostgresLogStore } from "../log/log-store.js";
import { renewEpochsAfterOutage, renewEpochsAfterRestore } from "./restore.js";

const REMEMBERED = "select value from throughline.meta where key = 'cluster'";

function refused(code: string, message = "refused"): pg.DatabaseError {
  const error = new pg.DatabaseError(message, 1, "error");
  error.code = code;
  return error;
}

function broken(message: string, code?: string): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

describe("which server this is", () => {
  let pool: pg.Pool;
  beforeEach(() => {
    pool = new pg.Pool({ host: "127.0.0.1", port: 1, user: "nobody" });
  });
  afterEach(() => pool.end());

  function failing(error: Error): void {
    vi.spyOn(pool, "query").mockImplementation(() => Promise.reject(error));
  }

  /** A server that tells everything but which one it is: each time it is asked that, it fails with the next of these. */
  function hiding(errors: Error[]): () => number {
    let asked = 0;
    vi.spyOn(pool, "query").mockImplementation((...args: unknown[]) => {
      const text = String(args[0]);
      if (text.includes("system_identifier")) {
        asked += 1;
        return Promise.reject(errors.shift());
      }
      const row = text.includes("pg_database") ? { tables: "1/2" } : { key: "tables", value: "1/2" };
      return Promise.resolve({ rows: [row] });
    });
    return () => asked;
  }

  it.each([
    ["forbids to ask", refused("42501")],
    ["does not know the function", refused("42883")],
    ["does not support it", refused("0A000")],
  ])("is hidden by one that %s: then its tables alone tell", async (_, error) => {
    hiding([error]);
    expect(await renewEpochsAfterRestore(pool, "throughline")).toBe(false);
  });

  it.each([
    ["a connection that was reset", broken("read ECONNRESET", "ECONNRESET")],
    ["a stale socket", broken("Connection terminated unexpectedly")],
    ["a statement that was not answered", broken("Query read timeout")],
    ["a server that shuts down", refused("57P01", "terminating connection due to administrator command")],
    ["a server that starts up", refused("57P03", "the database system is starting up")],
    ["a replica that was not promoted yet", refused("55000", "recovery is in progress")],
    ["a server without connections to spare", refused("53300")],
    ["a statement that was cancelled", refused("57014")],
  ])("is not known after %s, which is an outage", async (_, error) => {
    failing(error);
    const failure: unknown = await renewEpochsAfterRestore(pool, "throughline").catch(
      (thrown: unknown) => thrown,
    );
    expect(failure).toBe(error);
    expect(isStoreOutage(failure)).toBe(true);
  });

  it.each([
    ["a password that is wrong", refused("28P01")],
    ["a damaged page", refused("XX001")],
    ["a bug of ours", refused("42703")],
    ["an error that only looks as if it had a code", broken("odd", "42501")],
  ])("is not known after %s, which is passed on", async (_, error) => {
    failing(error);
    await expect(renewEpochsAfterRestore(pool, "throughline")).rejects.toBe(error);
  });

  it("is asked for again after any error, until it is told or nobody waits", async () => {
    const clock = createSimulatedClock(0);
    const errors = [broken("Connection terminated unexpectedly"), refused("28P01"), refused("42501")];
    const told: unknown[] = [];
    const timesAsked = hiding(errors);
    const closing = new AbortController();
    const options = { pool, fresh: pool, schema: "throughline", clock, signal: closing.signal };
    let isDone = false;
    const done = renewEpochsAfterOutage({ ...options, onError: (error) => void told.push(error) }).then(
      () => {
        isDone = true;
      },
    );
    await vi.waitUntil(
      () => {
        clock.advance(1_000);
        return isDone;
      },
      { interval: 1 },
    );
    await done;
    expect(timesAsked()).toBe(3);
    expect(told).toMatchObject([{ code: "28P01" }]);
    errors.push(refused("28P01"));
    await renewEpochsAfterOutage({ ...options, onError: () => closing.abort() });
  });

  it("is not known of a server that does not answer", async () => {
    const failure: unknown = await renewEpochsAfterRestore(pool, "throughline").catch(
      (error: unknown) => error,
    );
    expect(isStoreOutage(failure)).toBe(true);
  });
});

it("R19: is asked on a new connection, not on one of the pool's that may lead to the server of before", async () => {
  const fixture = await openTestDatabase();
  const database = await openPostgres({ connection: fixture.url });
  const outside = new pg.Client({ connectionString: fixture.url });
  await outside.connect();
  const log = createThreadLog({ store: createPostgresLogStore(database) });
  try {
    const thread = newThread();
    await write(log, thread, ["a"]);
    const before = await log.head(thread);
    // The pool goes on answering as the server that the database remembers.
    await outside.query("update throughline.meta set value = 'before' where key = 'cluster'");
    const { query } = database.pool;
    vi.spyOn(database.pool, "query").mockImplementation((...args: unknown[]) => {
      const isAsked = String(args[0]).includes("system_identifier");
      return isAsked
        ? Promise.resolve({ rows: [{ identity: "before" }] })
        : Reflect.apply(query, database.pool, args);
    });
    await outside.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'throughline wake'",
    );
    await vi.waitUntil(async () => (await log.head(thread))?.epoch !== before?.epoch, { timeout: 20_000 });
  } finally {
    await outside.end();
    await log.close();
    await database.close();
    await fixture.close();
  }
});

it("R19: renews nothing over a connection that leads to another server, and tries another one", async () => {
  const fixture = await openTestDatabase();
  const database = await openPostgres({ connection: fixture.url, maxConnections: 2 });
  const { pool } = database;
  try {
    const told = async () => (await pool.query<{ value: string }>(REMEMBERED)).rows[0]?.value;
    const identity = await told();
    const fresh = {
      query: <Row extends pg.QueryResultRow>(text: string) =>
        pool.query<Row>(text.includes("system_identifier") ? "select 'promoted' as identity" : text),
    };
    const failure: unknown = await renewEpochsAfterRestore(pool, "throughline", fresh).catch(
      (error: unknown) => error,
    );
    expect(isStoreOutage(failure)).toBe(true);
    expect(await told()).toBe(identity);
  } finally {
    await database.close();
    await fixture.close();
  }
});

it("R19: takes no lock where the database remembers this very server, and keeps whatever else it remembers", async () => {
  const fixture = await openTestDatabase();
  const database = await openPostgres({ connection: fixture.url, maxConnections: 2 });
  const { pool } = database;
  try {
    await pool.query("insert into throughline.meta (key, value) values ('another', 'value')");
    // Moves it behind the other.
    await pool.query("update throughline.meta set value = value where key = 'cluster'");
    const connecting = vi.spyOn(pool, "connect");
    const asked = openTestPool(fixture.url, 1);
    expect(await renewEpochsAfterRestore(pool, "throughline", asked)).toBe(false);
    expect(connecting).not.toHaveBeenCalled();
    await asked.query("update throughline.meta set value = 'before' where key = 'cluster'");
    expect(await renewEpochsAfterRestore(pool, "throughline", asked)).toBe(true);
    const { rows } = await asked.query("select value from throughline.meta where key = 'another'");
    expect(rows).toEqual([{ value: "value" }]);
    await asked.end();
  } finally {
    await database.close();
    await fixture.close();
  }
});

it("R19: is renewed by one of several instances that find another server at once", async () => {
  const fixture = await openTestDatabase();
  const database = await openPostgres({ connection: fixture.url, maxConnections: 4 });
  const holder = openTestPool(fixture.url, 1);
  const watcher = openTestPool(fixture.url, 1);
  try {
    await holder.query("update throughline.meta set value = 'before' where key = 'cluster'");
    await holder.query("begin");
    await holder.query("select 1 from throughline.meta where key = 'cluster' for update");
    const renewals = [1, 2, 3].map(() => renewEpochsAfterRestore(database.pool, "throughline"));
    await vi.waitFor(async () => {
      const { rows } = await watcher.query(
        "select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      expect(rows).toEqual([{ waiting: 3 }]);
    });
    await holder.query("commit");
    expect((await Promise.all(renewals)).filter(Boolean)).toHaveLength(1);
  } finally {
    await Promise.all([holder.end(), watcher.end()]);
    await database.close();
    await fixture.close();
  }
});

itNeeds(findMissingDebianPostgres())(
  "R19: a replica that takes over renews every epoch once it is promoted, and not before",
  async () => {
    const primary = await launchDebianPostgres();
    const database = await openPostgres({ connection: primary.url, maxConnections: 4 });
    const log = createThreadLog({ store: createPostgresLogStore(database) });
    const thread = newThread();
    await write(log, thread, ["a"]);
    const replica = replicateDebianPostgres(primary);
    try {
      const before = await log.head(thread);
      await primary.stop();
      await replica.start(primary.port);
      // It answers reads, and does not say which server it is.
      expect(await log.head(thread)).toEqual(before);
      replica.promote();
      await vi.waitUntil(async () => (await log.head(thread))?.epoch !== before?.epoch, { timeout: 20_000 });
      const after = await log.head(thread);
      expect(after?.seq).toBe(1);
      await write(log, thread, ["b"], 2_000_000);
      expect(await log.head(thread)).toEqual({ epoch: after?.epoch, seq: 2 });
      expect(await log.read(thread, before)).toMatchObject({ kind: "gap", reason: "epoch" });
      expect(await log.append(thread, notes(thread, "late"), fenceOf(thread, 1))).toMatchObject({
        ok: false,
      });
    } finally {
      await log.close();
      await database.close();
      await replica.stop();
    }
  },
);
