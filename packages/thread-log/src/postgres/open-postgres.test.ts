import { setImmediate as turn } from "node:timers/promises";
import { type Fence, ThroughlineError } from "@throughline/ai-core";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { eventually } from "../conformance/eventually.js";
import { fenceOf, newThread, nextEvent, notes, take, textsOf, write } from "../conformance/log-scene.js";
import { createThreadLog } from "../log/create-thread-log.js";
import { openPostgresFixture, type PostgresFixture } from "../testing/postgres-fixture.js";
import { migrate } from "./migrate.js";
import { MIGRATIONS } from "./migrations.js";
import { openPostgres, type PostgresDatabase } from "./open-postgres.js";
import { createPostgresLeaseKeeper } from "./postgres-lease-keeper.js";
import { createPostgresLogStore } from "./postgres-log-store.js";
import { createPostgresRunRegistry } from "./postgres-run-registry.js";

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
    const pool = new pg.Pool({ connectionString: fixture.url });
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
      expect(await store.snapshot(thread, 1)).toEqual(at(4));
      expect(await store.saveSnapshot(thread, at(8))).toBe(true);
      expect(await store.snapshot(thread, 1)).toEqual(at(8));
      expect(await store.snapshot(thread, 1, 7)).toEqual(at(4));
    }, "grown");
  });

  describe("when a hundred runs start at once", () => {
    /** All connections wait for a lock, and whoever else comes waits for a connection; then so much time passes. */
    async function startTogether(schema: string, waitMs: number) {
      return using(async (database) => {
        const registry = createPostgresRunRegistry(database);
        const elsewhere = new pg.Client({ connectionString: fixture.url });
        await elsewhere.connect();
        // Connections that are still being made would not be in anybody's way.
        await Promise.all(Array.from({ length: 8 }, () => database.pool.query("select 1")));
        await elsewhere.query(`begin; lock table ${schema}.runs in access exclusive mode`);
        vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
        try {
          const starting = Array.from({ length: 100 }, (_, i) =>
            registry
              .start({
                thread: newThread(),
                stateKey: "chat/one",
                runId: `${schema} ${i}`,
                graphId: "langgraph:chat",
                origin: { kind: "client" },
                start: { kind: "input", messages: [] },
                request: {},
                strategy: "reject",
                owner: "me",
                leaseMs: 60_000,
              })
              .then(
                ({ kind }) => kind,
                (error: unknown) => (error instanceof ThroughlineError ? error.code : String(error)),
              ),
          );
          while (database.pool.waitingCount !== 92) await turn();
          vi.advanceTimersByTime(waitMs);
          await elsewhere.query("commit");
          const ends = await Promise.all(starting);
          return Object.fromEntries(
            [...new Set(ends)].map((end) => [end, ends.filter((each) => each === end).length]),
          );
        } finally {
          vi.useRealTimers();
          await elsewhere.end();
        }
      }, schema);
    }

    it("lets them wait their turn for longer than a connection may take", async () => {
      expect(await startTogether("herd", 20_000)).toEqual({ started: 100 });
    });

    it("refuses who waited too long with a code that says to come again", async () => {
      expect(await startTogether("horde", 31_000)).toEqual({ started: 8, upstream_unavailable: 92 });
    });
  });

  it("asks once for all who want to know at the same time whether they hold their runs", async () => {
    await using(async (database) => {
      const registry = createPostgresRunRegistry(database);
      const lease = { owner: "me", leaseMs: 60_000 };
      const fences = await Promise.all(
        Array.from({ length: 20 }, async (_, i): Promise<Fence> => {
          const started = await registry.start({
            ...lease,
            thread: newThread(),
            stateKey: "chat/one",
            runId: `asked ${i}`,
            graphId: "langgraph:chat",
            origin: { kind: "client" },
            start: { kind: "input", messages: [] },
            request: {},
            strategy: "reject",
          });
          if (started.kind !== "started") throw new Error(started.kind);
          return started.fence;
        }),
      );
      const [finished, ...held] = fences;
      if (!finished) return expect.unreachable();
      await registry.finish(finished, { status: "success" });
      const query = vi.spyOn(database.pool, "query");
      const answers = await Promise.allSettled(
        [...held, finished].map((fence) => registry.assertHeld(fence)),
      );
      expect(answers.map(({ status }) => status)).toEqual([...held.map(() => "fulfilled"), "rejected"]);
      // The first, and then all who came meanwhile.
      expect(query).toHaveBeenCalledTimes(2);
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
    await using(
      (database) => database.pool.query("update restored.meta set value = 'another/cluster'"),
      "restored",
    );
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

  it("tells its watchers what is wrong when the database stays away", async () => {
    const database = await openPostgres({ connection: fixture.url });
    const log = createThreadLog({ store: createPostgresLogStore(database), giveUpAfterMs: 50 });
    const thread = newThread();
    await database.close();
    await expect(nextEvent(log.tail(thread, undefined)[Symbol.asyncIterator]())).rejects.toThrow();
    await expect(log.append(thread, notes(thread, "a"), fenceOf(thread, 1))).rejects.toMatchObject({
      code: "internal",
    });
  });

  it("R17: keeps the lease of a node that keeps the CPU busy for longer than the lease", async () => {
    await using(async (database) => {
      const registry = createPostgresRunRegistry(database);
      const leaseMs = 1_000;
      const keeper = createPostgresLeaseKeeper({ database, leaseMs, everyMs: 50 });
      const thread = newThread();
      const started = await registry.start({
        thread,
        stateKey: "chat/main",
        runId: "busy-run",
        graphId: "langgraph:chat",
        origin: { kind: "client" },
        start: { kind: "input", messages: [] },
        request: {},
        strategy: "reject",
        owner: "here",
        leaseMs: 60_000,
      });
      if (started.kind !== "started") return expect.unreachable();
      const fence: Fence = started.fence;
      const lost = vi.fn();
      keeper.keep(fence, { lost, stop: () => {} });
      const leaseUntil = async () => (await registry.find(thread, { runId: "busy-run" }))?.leaseUntil ?? 0;
      await eventually(async () =>
        expect(await leaseUntil()).toBeLessThan((started.run.leaseUntil ?? 0) - 30_000),
      );
      const busyUntil = performance.now() + 2 * leaseMs;
      while (performance.now() < busyUntil);
      const { rows } = await database.pool.query<{ alive: boolean }>(
        "select lease_until > clock_timestamp() as alive from throughline.runs where run_id = 'busy-run'",
      );
      expect(rows).toEqual([{ alive: true }]);
      await turn();
      expect(lost).not.toHaveBeenCalled();
      await registry.finish(fence, { status: "success" });
      await eventually(() => expect(lost).toHaveBeenCalledTimes(1));
      await keeper.close();
    });
  });

  it("R17: declares its leases lost when it cannot renew them in time", async () => {
    await using(async (database) => {
      const nowhere: PostgresDatabase = {
        ...database,
        connection: { host: "127.0.0.1", port: 1, user: "nobody" },
      };
      const keeper = createPostgresLeaseKeeper({ database: nowhere, leaseMs: 100, everyMs: 20 });
      const lost = vi.fn();
      keeper.keep({ threadId: "t", runId: "r", token: 1n }, { lost, stop: () => {} });
      await eventually(() => expect(lost).toHaveBeenCalledTimes(1));
      await keeper.close();
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
      expect(remembered).toEqual([{ key: "cluster" }]);
      await plain.close();
      const owner = new pg.Client({ connectionString: fixture.url });
      await owner.connect();
      await owner.query(`drop owned by ${role}`);
      await owner.query(`drop role ${role}`);
      await owner.end();
    });
  });
});
