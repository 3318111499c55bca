import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { settleable } from "../inproc/settleable.js";
import { createPostgresCheckpointer } from "./postgres-checkpointer.js";
import { type PostgresFixture, startPostgresFixture } from "./postgres-fixture.js";

/** The next transaction that is to be committed stands still before that, as in a process that was stopped. */
function pauseBeforeCommit() {
  const begun = settleable<void>();
  const ended = settleable<void>();
  const query = pg.Client.prototype.query;
  let isPaused = false;
  vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...given: unknown[]) {
    const go = () => Reflect.apply(query, this, given);
    if (given[0] !== "COMMIT" || isPaused) return go();
    isPaused = true;
    begun.settle();
    return ended.promise.then(go);
  });
  return { begun: begun.promise, end: ended.settle };
}

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
      // Whoever has a connection waits for the lock; on the server that shows.
      const waitingForLock = async () => {
        const { rows } = await elsewhere.query(
          "select count(*) from pg_locks where not granted and relation = 'herd.checkpoints'::regclass",
        );
        return Number(rows[0].count);
      };
      while ((await waitingForLock()) < 8);
      vi.advanceTimersByTime(20_000);
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

  it("lets whoever takes a run over write what a paused instance was about to delete", async () => {
    const checkpointers = Array.from({ length: 2 }, () =>
      createPostgresCheckpointer({ connectionString: postgres.url, schema: "paused", standstillMs: 50 }),
    );
    const [zombie, heir] = checkpointers;
    if (!zombie || !heir) return expect.unreachable();
    await zombie.setup();
    const where = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: "c" } };
    await zombie.saver.putWrites(where, [["__error__", "of the zombie"]], "task");
    const pause = pauseBeforeCommit();
    const refused = expect(zombie.saver.deleteThread("t")).rejects.toThrow();
    await pause.begun;
    // The same row: it waits for as long as the zombie's transaction is open.
    await heir.saver.putWrites(where, [["__error__", "of the heir"]], "task");
    pause.end();
    await refused;
    const { rows } = await query("select convert_from(blob, 'utf8') as value from paused.checkpoint_writes");
    expect(rows).toEqual([{ value: JSON.stringify("of the heir") }]);
    await Promise.all(checkpointers.map((checkpointer) => checkpointer.close()));
  });

  it("leaves a pool open that it was lent", async () => {
    const pool = new pg.Pool({ connectionString: postgres.url, max: 2 });
    const checkpointer = createPostgresCheckpointer({ pool });
    await checkpointer.setup();
    await checkpointer.close();
    const { rows } = await pool.query("select 1 as one");
    expect(rows).toEqual([{ one: 1 }]);
    await pool.end();
  });
});
