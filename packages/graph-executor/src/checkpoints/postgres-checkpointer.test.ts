import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { isStoreOutage } from "@throughline/ai-core";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type PostgresFixture, startPostgresFixture } from "../persistence/postgres-fixture.js";
import { storePool, surviveBrokenConnections } from "../store-pool.js";
import { createPostgresCheckpointer } from "./checkpointer.js";

describe("A PostgreSQL checkpointer", () => {
  let postgres: PostgresFixture;
  beforeAll(async () => {
    postgres = await startPostgresFixture();
  });
  afterAll(() => postgres.stop());
  afterEach(() => vi.restoreAllMocks());

  async function query(text: string): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    return client.query(text).finally(() => client.end());
  }

  it("lets a hundred wait for a connection longer than making one may take", async () => {
    const { saver, setup, close } = createPostgresCheckpointer({
      connectionString: postgres.url,
      schema: "herd",
    });
    await setup();
    const read = (i: number) => saver.getTuple({ configurable: { thread_id: `t${i}`, checkpoint_ns: "" } });
    // Connections that are still being made would not be in anybody's way.
    await Promise.all(Array.from({ length: 8 }, (_, i) => read(i)));
    const elsewhere = new pg.Client({ connectionString: postgres.url });
    await elsewhere.connect();
    await elsewhere.query("begin; lock table herd.checkpoints in access exclusive mode");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const reading = Promise.all(Array.from({ length: 100 }, (_, i) => read(i)));
      // The holder of a connection waits for the lock; the server shows that.
      const waitingForLock = async () => {
        const { rows } = await elsewhere.query(
          "select count(*) from pg_locks where not granted and relation = 'herd.checkpoints'::regclass",
        );
        return Number(rows[0].count);
      };
      while ((await waitingForLock()) < 8);
      vi.advanceTimersByTime(8_000);
      await elsewhere.query("commit");
      expect(await reading).toEqual(Array.from({ length: 100 }, () => undefined));
    } finally {
      vi.useRealTimers();
      await elsewhere.end();
      await close();
    }
  });

  it("is set up by several instances at once", async () => {
    const checkpointers = Array.from({ length: 4 }, () =>
      createPostgresCheckpointer({ connectionString: postgres.url, schema: "together" }),
    );
    await Promise.all(checkpointers.map((checkpointer) => checkpointer.setup()));
    for (const { saver } of checkpointers) {
      expect(await saver.getTuple({ configurable: { thread_id: "none" } })).toBeUndefined();
    }
    await Promise.all(checkpointers.map((checkpointer) => checkpointer.close()));
  });

  it("gives up a statement that does not end, here and on the server, and the connection with it", async () => {
    const { saver, setup, close } = createPostgresCheckpointer({
      connectionString: postgres.url,
      schema: "stalled",
      maxConnections: 2,
      deadlineMs: 200,
    });
    await setup();
    const read = () => saver.getTuple({ configurable: { thread_id: "t", checkpoint_ns: "" } });
    await read();
    const backend = () =>
      query("select pid, state from pg_stat_activity where application_name = 'throughline checkpoints'");
    const [before] = (await backend()).rows;
    const elsewhere = new pg.Client({ connectionString: postgres.url });
    await elsewhere.connect();
    await elsewhere.query("begin; lock table stalled.checkpoints in access exclusive mode");
    await expect(read()).rejects.toSatisfy(isStoreOutage);
    const isOver = async () => (await backend()).rows.every(({ pid }) => pid !== before.pid);
    await vi.waitUntil(isOver, { timeout: 5_000 });
    await elsewhere.query("commit");
    await elsewhere.end();
    expect(await read()).toBeUndefined();
    await close();
  });

  it("takes a statement that misses its deadline on a connection of its own for a broken one", async () => {
    const config = storePool({
      connectionString: postgres.url,
      maxConnections: 2,
      name: "late",
      deadlineMs: 100,
    });
    const pool = surviveBrokenConnections(new pg.Pool(config));
    const client = await pool.connect();
    await client.query("set statement_timeout = 0");
    await expect(client.query("select pg_sleep(2)")).rejects.toThrow("Query read timeout");
    client.release();
    expect(pool.idleCount).toBe(0);
    const { rows } = await pool.query("select 1 as one");
    expect(rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it("writes the same rows when a write is repeated because its answer was lost", async () => {
    const { saver, setup, close } = createPostgresCheckpointer({
      connectionString: postgres.url,
      schema: "repeated",
    });
    await setup();
    const checkpoint = {
      ...emptyCheckpoint(),
      channel_values: { words: ["a"] },
      channel_versions: { words: 1.5 },
    };
    const tables = async () =>
      Promise.all(
        ["checkpoints", "checkpoint_blobs", "checkpoint_writes"].map(
          async (table) => (await query(`select * from repeated.${table} t order by t::text`)).rows,
        ),
      );
    const write = async () => {
      const where = { configurable: { thread_id: "t", checkpoint_ns: "" } };
      const metadata = { source: "loop", step: 0, parents: {} } as const;
      const stored = await saver.put(where, checkpoint, metadata, { words: 1.5 });
      await saver.putWrites(stored, [["words", "b"]], "task");
      await saver.putWrites(stored, [["__interrupt__", { id: "i", value: "?" }]], "task");
    };
    await write();
    const once = await tables();
    await write();
    expect(await tables()).toEqual(once);
    expect(once.map((rows) => rows.length)).toEqual([1, 1, 2]);
    await close();
  });

  it("leaves a pool open that it was lent", async () => {
    const pool = surviveBrokenConnections(new pg.Pool({ connectionString: postgres.url, max: 2 }));
    const checkpointer = createPostgresCheckpointer({ pool });
    await checkpointer.setup();
    await checkpointer.close();
    const { rows } = await pool.query("select 1 as one");
    expect(rows).toEqual([{ one: 1 }]);
    await pool.end();
  });
});
