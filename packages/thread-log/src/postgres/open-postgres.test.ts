import { setImmediate as turn } from "node:timers/promises";
import { ThroughlineError } from "@throughline/ai-core";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { fenceOf, newThread, notes, take, textsOf, write } from "../conformance/log-scene.js";
import { createThreadLog } from "../log/create-thread-log.js";
import { openPostgresFixture, type PostgresFixture } from "../testing/postgres-fixture.js";
import { openTestPool } from "../testing/test-pool.js";
import { renewEpochsAfterRestore } from "./connection/restore.js";
import { inTransaction } from "./connection/transaction.js";
import { openPostgres, type PostgresDatabase } from "./database.js";
import { createPostgresThreadDirectory } from "./directory.js";
import { createPostgresLogStore } from "./log/log-store.js";
import { createPostgresRunRegistry } from "./registry/run-registry.js";
import { migrate } from "./schema/migrate.js";
import { MIGRATIONS } from "./schema/tables.js";

describe("PostgreSQL", () => {
  let fixture: PostgresFixture;
  beforeAll(async () => {
    fixture = await openPostgresFixture();
  });
  afterAll(() => fixture?.close());

  async function using<T>(work: (database: PostgresDatabase) => Promise<T>, schema?: string): Promise<T> {
    const database = await openPostgres({ connection: fixture.url, ...(schema ? { schema } : {}) });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }

  it("migrates once when many instances start at the same time, and never again", async () => {
    const databases = await Promise.all(
      Array.from({ length: 5 }, () => openPostgres({ connection: fixture.url, schema: "together" })),
    );
    const { rows } = (await databases[0]?.pool.query("select id from together.migrations")) ?? { rows: [] };
    expect(rows).toEqual(MIGRATIONS.map(({ id }) => ({ id })));
    await Promise.all(databases.map((database) => database.close()));
    await using(async () => {}, "together");
  });

  it("goes on with a snapshot that was saved when there was one of each fold version", async () => {
    const thread = newThread();
    const pool = openTestPool(fixture.url);
    await migrate(pool, "grown", {
      record: "migrations",
      migrations: MIGRATIONS.filter(({ id }) => id < 3),
    });
    await pool.query(
      `insert into grown.threads (account, subject, thread_id, epoch, fence, head, snapshot_seq)
       values ($1, '', $2, 'e', 1, 9, 4)`,
      [thread.account, thread.threadId],
    );
    await pool.query("insert into grown.snapshots select log_id, 1, 4, '{\"at\":4}' from grown.threads");
    await pool.end();
    await using(async (database) => {
      const store = createPostgresLogStore(database);
      const at = (seq: number) => ({ position: { epoch: "e", seq }, foldVersion: 1, state: { at: seq } });
      expect(await store.snapshot(thread, [1])).toEqual(at(4));
      expect(await store.saveSnapshot(thread, at(8))).toBe(true);
      expect(await store.snapshot(thread, [1])).toEqual(at(8));
      expect(await store.snapshot(thread, [1], 7)).toEqual(at(4));
    }, "grown");
  });

  it("goes on with runs and listings from before the registry kept the listings", async () => {
    const thread = newThread();
    const pool = openTestPool(fixture.url);
    await migrate(pool, "listed", {
      record: "migrations",
      migrations: MIGRATIONS.filter(({ id }) => id < 4),
    });
    const listings = MIGRATIONS.find(({ id }) => id === 4)
      ?.statements("listed")
      .filter((statement) => statement.includes("thread_listings") && statement.startsWith("create table"));
    for (const statement of listings ?? []) await pool.query(statement);
    const key = [thread.account, thread.threadId];
    await pool.query(
      `insert into listed.thread_listings values ($1, '', $2, 'langgraph:chat', 'main', null, 'Tides', 'tides', false,
         'running', 'old-run', 1, now(), now())`,
      key,
    );
    await pool.query(
      "insert into listed.threads (account, subject, thread_id, epoch, fence) values ($1, '', $2, 'e', 1)",
      key,
    );
    await pool.query(
      `insert into listed.runs (run_id, account, subject, thread_id, graph_id, origin_kind, status, start, start_kind,
         request, owner, fence, lease_until)
       values ('old-run', $1, '', $2, 'langgraph:chat', 'client', 'running', '{"kind":"input","messages":[]}', 'input',
         '{}', 'gone', 1, now() - interval '1 second')`,
      key,
    );
    await pool.end();
    await using(async (database) => {
      const registry = createPostgresRunRegistry(database);
      const [claim] = await registry.claimExpired({ owner: "here", leaseMs: 60_000 }, 10);
      expect(claim?.run).toMatchObject({ runId: "old-run", attempt: 1, crashes: 1 });
      if (!claim) return expect.unreachable();
      await registry.finish(claim.fence, { status: "success" });
      const directory = createPostgresThreadDirectory(database);
      expect(await directory.find(thread)).toMatchObject({ title: "Tides", status: "idle" });
    }, "listed");
  });

  describe("when a hundred transactions begin at once", () => {
    /** All connections wait for a lock, and all others for a connection; then so much time passes. */
    async function beginTogether(waitMs: number) {
      const database = await openPostgres({ connection: fixture.url, statementMs: 120_000 });
      const { pool } = database;
      const elsewhere = new pg.Client({ connectionString: fixture.url });
      await elsewhere.connect();
      // Connections that are still being made would not be in the way.
      await Promise.all(Array.from({ length: 8 }, () => pool.query("select 1")));
      await elsewhere.query("begin; lock table throughline.runs in access exclusive mode");
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      try {
        const beginning = Array.from({ length: 100 }, () =>
          inTransaction(pool, (client) => client.query("select 1 from throughline.runs limit 1")).then(
            () => "committed",
            (error: unknown) => (error instanceof ThroughlineError ? error.code : String(error)),
          ),
        );
        while (pool.waitingCount !== 92) await turn();
        vi.advanceTimersByTime(waitMs);
        await elsewhere.query("commit");
        const ends = await Promise.all(beginning);
        return Object.fromEntries(
          [...new Set(ends)].map((end) => [end, ends.filter((each) => each === end).length]),
        );
      } finally {
        vi.useRealTimers();
        await elsewhere.end();
        await database.close();
      }
    }

    it("lets them wait their turn for longer than a connection may take", async () => {
      expect(await beginTogether(20_000)).toEqual({ committed: 100 });
    });

    it("refuses who waited too long with a code that says to come again", async () => {
      expect(await beginTogether(31_000)).toEqual({ committed: 8, store_unavailable: 92 });
    });
  });

  it("keeps schemas apart", async () => {
    const thread = newThread();
    const heads = await Promise.all(
      ["one", "two"].map((schema) =>
        using(async (database) => {
          const log = createThreadLog({ store: createPostgresLogStore(database) });
          if (schema === "one") await write(log, thread, ["a"]);
          return log.head(thread);
        }, schema),
      ),
    );
    expect(heads).toMatchObject([{ seq: 1 }, undefined]);
    await expect(openPostgres({ connection: fixture.url, schema: "a; drop" })).rejects.toThrow("schema");
  });

  it("R19: renews every epoch when the database is not the one it remembers, and only then", async () => {
    const thread = newThread();
    const head = () =>
      using(
        (database) => createThreadLog({ store: createPostgresLogStore(database) }).head(thread),
        "restored",
      );
    await using(async (database) => {
      await write(createThreadLog({ store: createPostgresLogStore(database) }), thread, ["a"]);
    }, "restored");
    const before = await head();
    expect(await head()).toEqual(before);
    await using(async ({ pool }) => {
      await pool.query("insert into restored.meta values ('a', 'kept'), ('z', 'kept')");
      await pool.query("update restored.meta set value = 'another/cluster' where key = 'cluster'");
      // Two instances that find it out at the same moment.
      const renewed = await Promise.all([1, 2].map(() => renewEpochsAfterRestore(pool, "restored")));
      expect(renewed.toSorted()).toEqual([false, true]);
      const { rows } = await pool.query("select key from restored.meta where value = 'kept' order by key");
      expect(rows).toEqual([{ key: "a" }, { key: "z" }]);
    }, "restored");
    const after = await head();
    expect(after?.seq).toBe(1);
    expect(after?.epoch).not.toBe(before?.epoch);
    expect(await head()).toEqual(after);
  });

  it("finds what was committed while its own connections were broken", async () => {
    await using(async (writing) => {
      const writer = createThreadLog({ store: createPostgresLogStore(writing) });
      const thread = newThread();
      await write(writer, thread, ["a"]);
      await using(async (watching) => {
        const watcher = createThreadLog({ store: createPostgresLogStore(watching) });
        const tail = watcher.tail(thread, undefined)[Symbol.asyncIterator]();
        await take(tail, 1);
        const seen = take(tail, 30);
        for (let i = 0; i < 30; i++) {
          if (i % 10 === 5) await fixture.interrupt?.();
          await writer.append(thread, notes(thread, `${i}`), fenceOf(thread, 1));
        }
        expect(textsOf(await seen)).toEqual(Array.from({ length: 30 }, (_, i) => `${i}`));
        await tail.return?.();
      });
    });
  });

  it("asks only for what any role may ask", async () => {
    await using(async (database) => {
      const role = `plain_${Date.now()}`;
      const password = "plain";
      await database.pool.query(`create role ${role} login password '${password}'`);
      const { rows } = await database.pool.query<{ name: string }>("select current_database() as name");
      await database.pool.query(`grant create on database ${rows[0]?.name} to ${role}`);
      const url = new URL(fixture.url);
      url.username = role;
      url.password = password;
      const plain = await openPostgres({ connection: url.href, schema: "plain" });
      const thread = newThread();
      const log = createThreadLog({ store: createPostgresLogStore(plain) });
      await write(log, thread, ["a"]);
      const { rows: remembered } = await plain.pool.query("select key from plain.meta");
      expect(remembered).toEqual([{ key: "cluster" }, { key: "tables" }]);
      await plain.close();
      const owner = new pg.Client({ connectionString: fixture.url });
      await owner.connect();
      await owner.query(`drop owned by ${role}`);
      await owner.query(`drop role ${role}`);
      await owner.end();
    });
  });
});
