import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fenceOf, newThread, notes, runEnd, write } from "../../conformance/log-scene.js";
import { createThreadLog } from "../../log/create-thread-log.js";
import type { ThreadLog } from "../../log/thread-log.js";
import { openPostgresFixture, type PostgresFixture } from "../../testing/postgres-fixture.js";
import { openTestPool } from "../../testing/test-pool.js";
import type { ThreadRef } from "../../thread-ref.js";
import { openPostgres, type PostgresDatabase } from "../database.js";
import { createPostgresLogStore } from "./log-store.js";

const LENGTH = 50_000;

describe("Trimming in PostgreSQL", () => {
  let fixture: PostgresFixture;
  let elsewhere: pg.Pool;
  let database: PostgresDatabase;
  let log: ThreadLog;
  let thread: ThreadRef;
  beforeAll(async () => {
    fixture = await openPostgresFixture();
    elsewhere = openTestPool(fixture.url);
  });
  afterAll(async () => {
    await elsewhere?.end();
    await fixture?.close();
  });
  beforeEach(async () => {
    database = await openPostgres({ connection: fixture.url });
    log = createThreadLog({ store: createPostgresLogStore(database) });
    thread = newThread();
  });
  afterEach(async () => {
    await log.close();
    await database.close();
  });

  const append = (text: string) => log.append(thread, notes(thread, text), fenceOf(thread, 1));
  const id = () => [thread.threadId];
  const own = "(select log_id from throughline.threads where thread_id = $1)";

  /** A long thread, made by the database itself, with a snapshot at its head. */
  async function lengthen(length: number): Promise<void> {
    await write(log, thread, ["first"]);
    await elsewhere.query(
      `insert into throughline.entries (log_id, seq, at, bytes, envelope)
       select e.log_id, n, e.at, e.bytes, e.envelope from throughline.entries e, generate_series(2, $2::int) n
       where e.log_id = ${own}`,
      [thread.threadId, length],
    );
    await elsewhere.query(
      `update throughline.threads t set head = $2, held_bytes = (
         select sum(bytes) from throughline.entries e where e.log_id = t.log_id) where thread_id = $1`,
      [thread.threadId, length],
    );
    const head = await log.head(thread);
    if (!head) return expect.unreachable();
    expect(await log.saveSnapshot(thread, { position: head, foldVersion: 1, state: null })).toBe(true);
  }

  async function heldBytes(): Promise<{ counted: number; held: number }> {
    const { rows } = await elsewhere.query(
      `select t.held_bytes::int as counted, (select coalesce(sum(bytes), 0)::int from throughline.entries e
         where e.log_id = t.log_id and e.seq >= t.floor) as held
       from throughline.threads t where thread_id = $1`,
      id(),
    );
    return rows[0];
  }

  it("lets the thread be written while 50,000 of its entries are deleted, and counts what is left", async () => {
    await lengthen(LENGTH);
    let isTrimming = true;
    const trimming = log.trim(thread, { maxEntries: 1 }).finally(() => {
      isTrimming = false;
    });
    let meanwhile = 0;
    for (; isTrimming; meanwhile += 1) expect(await append(`${meanwhile}`)).toMatchObject({ ok: true });
    const { dropped, floor } = await trimming;
    // What was appended before the trim looked is trimmed, too.
    expect(dropped).toBeGreaterThanOrEqual(LENGTH - 1);
    expect(floor).toBe(dropped + 1);
    // Under one lock for the whole trim there would be one at most.
    expect(meanwhile).toBeGreaterThan(5);
    const { counted, held } = await heldBytes();
    expect(counted).toBe(held);
    const { rows } = await elsewhere.query(
      `select count(*)::int as count from throughline.entries where log_id = ${own}`,
      id(),
    );
    expect(rows).toEqual([{ count: LENGTH + meanwhile - dropped }]);
  });

  it("a trim that was interrupted is found, and the next one deletes what it left", async () => {
    await write(log, thread, ["a", "b"]);
    await log.append(thread, [...notes(thread, "c"), runEnd(thread, "r")], fenceOf(thread, 1));
    const head = await log.head(thread);
    if (!head) return expect.unreachable();
    await log.saveSnapshot(thread, { position: head, foldVersion: 1, state: null });
    const store = createPostgresLogStore(database);
    const isAging = async () =>
      (await store.aging(1e9, {})).threads.some(({ threadId }) => threadId === thread.threadId);
    await elsewhere.query(
      "update throughline.threads set created_at = now() - interval '30 days' where thread_id = $1",
      id(),
    );
    expect(await isAging()).toBe(false);
    // As the first statement of a trim leaves it.
    await elsewhere.query(
      "update throughline.threads set floor = 5, held_bytes = 0 where thread_id = $1",
      id(),
    );
    expect(await isAging()).toBe(true);
    // Until then, what is below the floor can't be found in any way.
    await elsewhere.query(
      `insert into throughline.snapshots (log_id, fold_version, seq, state)
       select log_id, version, 3, 'null' from throughline.threads, (values (1), (2)) of (version) where thread_id = $1`,
      id(),
    );
    expect((await store.kept(thread, 0, 9)).map(({ seq }) => seq)).toEqual([4]);
    for (const foldVersions of [[2], [1, 2]]) {
      const seq = foldVersions.includes(1) ? 4 : undefined;
      expect((await store.snapshot(thread, foldVersions))?.position.seq).toBe(seq);
      for (const returnsTo of [undefined, 4]) {
        const request = { foldVersions, returnsTo, shortlyBefore: 9, limit: 9 };
        expect((await store.load?.(thread, request))?.snapshot?.position.seq).toBe(seq);
      }
    }
    expect(await log.sweep({ maxAgeMs: 1e9 })).toMatchObject({ dropped: 3 });
    expect(await isAging()).toBe(false);
    expect(await log.terminal(thread, "r")).toMatchObject({ seq: 4 });
    expect(await log.read(thread, undefined)).toMatchObject({ kind: "gap", reason: "trimmed" });
  });

  it.each([
    ["entries", /with batch/],
    ["terminals", /offset \$3/],
    ["templates", /entry_templates/],
    ["snapshots", /delete from throughline.snapshots/],
  ])(
    "deletes no %s of a thread that is deleted and made again between two of its statements",
    async (_, next) => {
      await write(log, thread, ["a", "b", "c"]);
      const head = await log.head(thread);
      if (!head) return expect.unreachable();
      await log.saveSnapshot(thread, { position: head, foldVersion: 1, state: null });
      const rows = async () => {
        const { rows: counts } = await elsewhere.query(
          `select (select count(*) from throughline.log_entries e where e.log_id = t.log_id) as entries,
           (select count(*) from throughline.entry_templates p where p.log_id = t.log_id) as templates,
           (select count(*) from throughline.snapshots s where s.log_id = t.log_id) as snapshots
         from throughline.threads t where t.thread_id = $1`,
          id(),
        );
        return counts[0];
      };
      /** Of which a trim would leave nothing but what is at the floor. */
      const makeAnew = async () => {
        await log.deleteThread(thread);
        for (const token of [1_000_000, 1_000_001]) {
          await write(log, thread, ["d", "e", "f"], token);
          await log.append(thread, [runEnd(thread, `r${token}`)], fenceOf(thread, token));
        }
        const anew = await log.head(thread);
        if (!anew) return;
        const position = { ...anew, seq: 2 };
        await log.saveSnapshot(thread, { position, foldVersion: 1, state: null });
        await elsewhere.query("update throughline.threads set floor = 8 where thread_id = $1", id());
      };
      let before: unknown;
      const { pool } = database;
      const query = async (...args: unknown[]) => {
        if (before === undefined && next.test(String(args[0]))) {
          await makeAnew();
          before = await rows();
        }
        return Reflect.apply(pool.query, pool, args);
      };
      const store = createPostgresLogStore({
        ...database,
        pool: Object.assign(Object.create(pool), { query }),
      });
      await store.trim(thread, head.epoch, 3, 0);
      expect(before).toBeDefined();
      expect(await rows()).toEqual(before);
    },
  );

  it("never deletes entries of a thread that was deleted and made again meanwhile", async () => {
    await lengthen(100);
    const before = await log.head(thread);
    if (!before) return expect.unreachable();
    await log.deleteThread(thread);
    await write(log, thread, ["anew", "again"], 1_000_000);
    const store = createPostgresLogStore(database);
    expect(await store.trim(thread, before.epoch, 99, 10)).toEqual({ dropped: 0, floor: 1 });
    expect((await log.head(thread))?.seq).toBe(2);
    expect(await log.read(thread, undefined)).toMatchObject({ entries: [{ seq: 1 }, { seq: 2 }] });
  });
});
