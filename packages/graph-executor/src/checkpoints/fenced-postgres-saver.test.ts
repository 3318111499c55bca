import type { PendingWrite } from "@langchain/langgraph-checkpoint";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { Fence } from "@throughline/ai-core";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { heldQuery, putRun, setUpRuns } from "../persistence/held-runs-fixture.js";
import { type PostgresFixture, startPostgresFixture } from "../persistence/postgres-fixture.js";
import { surviveBrokenConnections } from "../store-pool.js";
import { FencedPostgresSaver } from "./fenced-postgres-saver.js";

const TABLES = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"];

const fence: Fence = { threadId: "t", runId: "run-1", token: 3n };

describe("A saver that writes in one statement", () => {
  let postgres: PostgresFixture;
  let pool: pg.Pool;
  beforeAll(async () => {
    postgres = await startPostgresFixture();
    pool = surviveBrokenConnections(new pg.Pool({ connectionString: postgres.url, max: 4 }));
    await setUpRuns(pool);
  });
  afterAll(async () => {
    await pool.end();
    await postgres.stop();
  });

  /** What the tables hold once a run as long as any was written. */
  async function rowsBy(saver: PostgresSaver, schema: string): Promise<unknown[]> {
    await saver.setup();
    const thread = { thread_id: "t", checkpoint_ns: "" };
    const first = {
      ...emptyCheckpoint(),
      id: "1f0a",
      ts: "",
      channel_values: { words: ["a \u00e9", "b"], picture: new Uint8Array([0, 1, 255]) },
      channel_versions: { words: 1.5, picture: 2, gone: 3 },
    };
    const metadata = { source: "input", step: -1, parents: {} } as const;
    const stored = await saver.put({ configurable: thread }, first, metadata, first.channel_versions);
    const second = { ...first, id: "1f0b", channel_values: {} };
    const next = await saver.put(stored, second, { ...metadata, step: 0 }, {});
    // What was stored under a version stays; a checkpoint that is written again is the newer one.
    await saver.put(stored, { ...second, ts: "later" }, { ...metadata, step: 1 }, { words: 1.5 });
    const writes: PendingWrite[] = [
      ["words", "c"],
      ["__interrupt__", { value: "?" }],
    ];
    await saver.putWrites(next, writes, "task");
    await saver.putWrites(next, [["words", "too late"]], "task");
    await saver.putWrites(next, [], "task");
    await saver.putWrites(next, [["__error__", "first"]], "task");
    const again: PendingWrite[] = [
      ["__error__", "second"],
      ["__resume__", 1],
      ["__error__", "third"],
    ];
    await saver.putWrites(next, again, "task");
    await saver.putWrites(
      next,
      Array.from({ length: 20 }, (_, n): PendingWrite => ["words", n]),
      "many",
    );
    await saver.putWrites(
      next,
      Array.from({ length: 1_001 }, (_, n): PendingWrite => ["words", n]),
      "more",
    );
    const tables = await Promise.all(
      TABLES.map((table) => pool.query(`select * from ${schema}.${table} t order by t::text`)),
    );
    return tables.map(({ rows }) => rows);
  }

  it("leaves the rows that PostgresSaver leaves", async () => {
    const theirs = await rowsBy(new PostgresSaver(pool, undefined, { schema: "theirs" }), "theirs");
    const ours = await rowsBy(new FencedPostgresSaver(pool, "ours"), "ours");
    expect(ours).toEqual(theirs);
    expect(ours.every((rows) => Array.isArray(rows) && rows.length > 0)).toBe(true);
  });

  it("leaves them, too, while it presents a fence that is held", async () => {
    await putRun(pool, fence);
    const held = new FencedPostgresSaver(pool, "fenced", { fence, heldQuery });
    expect(await rowsBy(held, "fenced")).toEqual(
      await rowsBy(new FencedPostgresSaver(pool, "unfenced"), "unfenced"),
    );
  });

  describe("whose run another instance drives by now", () => {
    const where = { configurable: { thread_id: "t", checkpoint_ns: "" } };
    const metadata = { source: "loop", step: 0, parents: {} } as const;
    const stored = { configurable: { ...where.configurable, checkpoint_id: "1f0a" } };
    let plain: FencedPostgresSaver;
    let zombie: FencedPostgresSaver;

    beforeEach(async () => {
      plain = new FencedPostgresSaver(pool, "zombies");
      await plain.setup();
      await plain.deleteThread("t");
      zombie = plain.heldBy({ fence, heldQuery });
      await putRun(pool, fence);
    });

    const takeOver = (client: Pick<pg.Pool, "query">) => putRun(client, { ...fence, token: 4n });

    async function countRows(): Promise<number> {
      const counts = TABLES.map((table) => `(select count(*) from zombies.${table})`);
      return Number((await pool.query(`select ${counts.join(" + ")} as rows`)).rows[0].rows);
    }

    const isWaitingForLock = async () => {
      const { rows } = await pool.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
      return rows.length > 0;
    };

    it("refuses every write, of any kind, and deletes nothing", async () => {
      await plain.put(where, { ...emptyCheckpoint(), id: "1f0a" }, metadata, {});
      await takeOver(pool);
      const before = await countRows();
      const refused = { code: "conflict", message: "Another instance drives this run by now." };
      await expect(zombie.put(where, emptyCheckpoint(), metadata, {})).rejects.toMatchObject(refused);
      await expect(zombie.putWrites(stored, [["words", 1]], "task")).rejects.toMatchObject(refused);
      await expect(zombie.putWrites(stored, [["__error__", 1]], "task")).rejects.toMatchObject(refused);
      await expect(zombie.deleteThread("t")).rejects.toMatchObject(refused);
      expect(await countRows()).toBe(before);
    });

    it("is told apart from one whose write was there already", async () => {
      await zombie.putWrites(stored, [["words", "first"]], "task");
      await zombie.putWrites(stored, [["words", "second"]], "task");
      await takeOver(pool);
      await expect(zombie.putWrites(stored, [["words", "third"]], "task")).rejects.toThrow("Another");
      expect(await countRows()).toBe(1);
    });

    it("writes nothing when the takeover came while its write was on its way", async () => {
      const heir = await pool.connect();
      await heir.query("begin");
      await takeOver(heir);
      const writing = Promise.allSettled([
        zombie.put(where, emptyCheckpoint(), metadata, {}),
        zombie.putWrites(stored, [["words", 1]], "task"),
      ]);
      await vi.waitUntil(isWaitingForLock, { timeout: 5_000 });
      await heir.query("commit");
      heir.release();
      for (const outcome of await writing) {
        expect(outcome).toMatchObject({ status: "rejected", reason: { code: "conflict" } });
      }
      expect(await countRows()).toBe(0);
    });

    it("is waited for by the takeover while its write is under way", async () => {
      const other = await pool.connect();
      await other.query("begin");
      // The same row, not yet committed: the write stands still after it found its fence held.
      await other.query(
        `insert into zombies.checkpoint_writes values ('t', '', '1f0a', 'task', 0, 'words', 'json', '1')`,
      );
      const writing = zombie.putWrites(stored, [["words", 1]], "task");
      await vi.waitUntil(isWaitingForLock, { timeout: 5_000 });
      const taking = takeOver(pool);
      const blockers = async () => {
        const { rows } = await pool.query(
          `select b.query from pg_stat_activity a, unnest(pg_blocking_pids(a.pid)) as blocker,
             pg_stat_activity b where b.pid = blocker and a.query like '%registry.runs values%'`,
        );
        return rows.map(({ query }): unknown => query);
      };
      await vi.waitUntil(async () => (await blockers()).length > 0, { timeout: 5_000 });
      expect(await blockers()).toEqual([expect.stringContaining("checkpoint_writes")]);
      await other.query("rollback");
      other.release();
      await Promise.all([writing, taking]);
      expect(await countRows()).toBe(1);
    });
  });
});
