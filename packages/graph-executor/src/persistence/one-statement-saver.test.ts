import type { PendingWrite } from "@langchain/langgraph-checkpoint";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OneStatementSaver } from "./one-statement-saver.js";
import { type PostgresFixture, startPostgresFixture } from "./postgres-fixture.js";

const TABLES = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"];

describe("A saver that writes in one statement", () => {
  let postgres: PostgresFixture;
  let pool: pg.Pool;
  beforeAll(async () => {
    postgres = await startPostgresFixture();
    pool = new pg.Pool({ connectionString: postgres.url, max: 2 });
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
    const ours = await rowsBy(new OneStatementSaver(pool, "ours"), "ours");
    expect(ours).toEqual(theirs);
    expect(ours.every((rows) => Array.isArray(rows) && rows.length > 0)).toBe(true);
  });
});
