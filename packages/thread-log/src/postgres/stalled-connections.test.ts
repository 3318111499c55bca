import { setTimeout as delay } from "node:timers/promises";
import { StoreOutage } from "@throughline/ai-core";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { fenceOf, newThread, notes, readAll, take, textsOf, write } from "../conformance/log-scene.js";
import { createThreadLog } from "../log/create-thread-log.js";
import { openPostgresFixture, type PostgresFixture } from "../testing/postgres-fixture.js";
import { type StallingProxy, startStallingProxy } from "../testing/stalling-proxy.js";
import { inTransaction } from "./connection/transaction.js";
import { openPostgres, type PostgresDatabase, type PostgresOptions } from "./database.js";
import { createPostgresLogStore } from "./log/log-store.js";

const STATEMENT_MS = 300;

describe("Connections that stall or break", () => {
  let fixture: PostgresFixture;
  let proxy: StallingProxy;
  let opened: PostgresDatabase[];
  beforeAll(async () => {
    fixture = await openPostgresFixture();
  });
  afterAll(() => fixture?.close());
  beforeEach(async () => {
    opened = [];
    proxy = await startStallingProxy(fixture.url);
  });
  afterEach(async () => {
    // What stalls is cut, so that closing need not wait for it.
    await proxy.stop();
    await Promise.all(opened.map((database) => database.close()));
  });

  async function open(options: Partial<PostgresOptions> = {}): Promise<PostgresDatabase> {
    const database = await openPostgres({ connection: proxy.url, statementMs: STATEMENT_MS, ...options });
    opened.push(database);
    return database;
  }

  it.each(["all", "answers"] as const)(
    "a writer's that stalls (%s) is replaced, and its commit is written once",
    async (which) => {
      const log = createThreadLog({ store: createPostgresLogStore(await open()) });
      const thread = newThread();
      await write(log, thread, ["a"]);
      proxy.stallOpen(which);
      const appended = await log.append(thread, notes(thread, "b"), fenceOf(thread, 1));
      expect(appended).toMatchObject({ ok: true, first: 2, last: 2 });
      await log.append(thread, notes(thread, "c"), fenceOf(thread, 1));
      expect(await readAll(log, thread)).toEqual(["a", "b", "c"]);
      await log.close();
    },
  );

  it("a transaction's that stalls is destroyed without a rollback, and the next transaction has another", async () => {
    const { pool } = await open();
    const query = vi.fn();
    const stalled = inTransaction(pool, async (client) => {
      await client.query("create table if not exists half_done (n int)");
      const { query: send } = client;
      vi.spyOn(client, "query").mockImplementation((...args: unknown[]) => {
        query(args[0]);
        return Reflect.apply(send, client, args);
      });
      proxy.stallOpen();
      await client.query("select 1");
    });
    await expect(stalled).rejects.toBeInstanceOf(StoreOutage);
    expect(query.mock.calls).toEqual([["select 1"]]);
    expect(pool.totalCount).toBe(0);
    const { rows } = await inTransaction(pool, (client) =>
      client.query("select to_regclass('half_done') as found"),
    );
    expect(rows).toEqual([{ found: null }]);
  });

  it("a transaction may have a longer deadline than its pool, and nothing of it stays on the connection", async () => {
    const { pool } = await open({ maxConnections: 1 });
    const seconds = (1.5 * STATEMENT_MS) / 1_000;
    const sleep = (client: pg.PoolClient) => client.query("select pg_sleep($1)", [seconds]);
    await expect(inTransaction(pool, sleep)).rejects.toBeInstanceOf(StoreOutage);
    await expect(pool.query("select pg_sleep($1)", [seconds])).rejects.toBeInstanceOf(StoreOutage);
    await inTransaction(pool, sleep, { statementMs: 20_000 });
    const { rows } = await pool.query("show statement_timeout");
    expect(rows).toEqual([{ statement_timeout: `${0.9 * STATEMENT_MS}ms` }]);
  });

  it("a listener's that stalls costs a watcher one poll", async () => {
    const [watching, writing] = [await open(), await open({ connection: fixture.url })];
    const watcher = createThreadLog({ store: createPostgresLogStore(watching), pollEveryMs: 200 });
    const writer = createThreadLog({ store: createPostgresLogStore(writing) });
    const thread = newThread();
    await write(writer, thread, ["a"]);
    const tail = watcher.tail(thread, undefined)[Symbol.asyncIterator]();
    await take(tail, 1);
    const seen = take(tail, 1);
    proxy.stallOpen();
    await writer.append(thread, notes(thread, "unheard"), fenceOf(thread, 1));
    expect(textsOf(await seen)).toEqual(["unheard"]);
    await Promise.all([watcher.close(), writer.close()]);
  });

  it("a read waits no longer than its patience, and a tail can be left, while nothing answers", async () => {
    const store = createPostgresLogStore(await open({ statementMs: 20_000 }));
    const log = createThreadLog({ store, patienceMs: 100 });
    const thread = newThread();
    await write(log, thread, ["a"]);
    proxy.setDark(true);
    await expect(log.head(thread)).rejects.toBeInstanceOf(StoreOutage);
    const tail = log.tail(thread, undefined)[Symbol.asyncIterator]();
    const reading = tail.next();
    await tail.return?.();
    expect(await reading).toEqual({ done: true, value: undefined });
    await log.close();
  });

  it("that are cut at random lose, double and reorder nothing of five producers' 500 appends", async () => {
    const log = createThreadLog({ store: createPostgresLogStore(await open({ connection: fixture.url })) });
    const texts = Array.from({ length: 100 }, (_, i) => `${i}`);
    const threads = Array.from({ length: 5 }, () => newThread());
    const tails = threads.map((thread) => log.tail(thread, undefined)[Symbol.asyncIterator]());
    const seen = tails.map((tail) => take(tail, texts.length));
    let isDone = false;
    let cuts = 0;
    const cutting = (async () => {
      for (; !isDone || cuts < 3; cuts++) {
        await fixture.interrupt?.();
        await delay(20 + Math.random() * 60);
      }
    })();
    const results = await Promise.all(
      threads.map(async (thread) => {
        await log.open(thread, fenceOf(thread, 1));
        const firsts: unknown[] = [];
        for (const text of texts) {
          const appended = await log.append(thread, notes(thread, text), fenceOf(thread, 1));
          firsts.push(appended.ok && appended.first);
        }
        return firsts;
      }),
    );
    isDone = true;
    await cutting;
    for (const [index, thread] of threads.entries()) {
      expect(results[index]).toEqual(texts.map((_, i) => i + 1));
      expect(await readAll(log, thread)).toEqual(texts);
      expect(textsOf((await seen[index]) ?? [])).toEqual(texts);
    }
    await log.close();
  });
});
