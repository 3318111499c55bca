import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newThread, note } from "../conformance/log-scene.js";
import { leased, type RegistryFixture, withRegistryScene } from "../conformance/registry-scene.js";
import { appendOf, EVERY, seqsOf, written } from "../conformance/store-scene.js";
import type { LogStore, StoreAppend } from "../log/log-store.js";
import { openPostgresRegistryFixture } from "../testing/postgres-registry-fixture.js";
import { openTestDatabase, type TestDatabase } from "../testing/test-database.js";
import { openTestPool } from "../testing/test-pool.js";
import type { ThreadRef } from "../thread-ref.js";
import { openPostgres, type PostgresDatabase } from "./database.js";
import { createPostgresLogStore } from "./log/log-store.js";

const LOAD = { foldVersions: [1], returnsTo: undefined, shortlyBefore: 9, limit: 9 };

describe("Templates in PostgreSQL", () => {
  let server: TestDatabase;
  let fixture: RegistryFixture;
  let outside: pg.Pool;
  let database: PostgresDatabase;
  let store: LogStore;
  let thread: ThreadRef;
  beforeAll(async () => {
    server = await openTestDatabase();
    fixture = await openPostgresRegistryFixture({ openDatabase: async () => server });
    outside = openTestPool(server.url, 2);
    database = await openPostgres({ connection: server.url });
  });
  afterAll(async () => {
    await database?.close();
    await outside?.end();
    await fixture?.close();
  });
  beforeEach(() => {
    store = createPostgresLogStore(database);
    thread = newThread();
  });
  afterEach(() => outside.query("delete from throughline.entry_templates"));

  /** The tokens of those that a log has. */
  async function templatesOf({ account, threadId }: ThreadRef): Promise<readonly number[]> {
    const { rows } = await outside.query<{ token: number }>(
      `select p.token::int from throughline.entry_templates p join throughline.threads t using (log_id)
       where t.account = $1 and t.thread_id = $2 order by p.token`,
      [account, threadId],
    );
    return rows.map(({ token }) => token);
  }

  async function textsOf(of: ThreadRef): Promise<readonly string[]> {
    const [range] = await store.read([{ thread: of, epoch: undefined, afterSeq: 0 }], 99);
    return range?.entries.map(({ text }) => text) ?? [];
  }

  const textsIn = ({ entries }: StoreAppend) => entries.map(({ text }) => text);

  it.each([false, true])("are written to the log that uses them and no other; where runs end: %s", (isEnd) =>
    withRegistryScene(fixture, async ({ registry, request, thread: { account } }) => {
      const [whole, batch]: [StoreAppend[], StoreAppend[]] = [[], []];
      for (const of of [newThread(account), newThread(), newThread()]) {
        const { run, fence } = leased(await registry.start(request({ thread: of })));
        const finish = { runId: run.runId, status: "success" } as const;
        whole.push({ ...appendOf(of, "a"), token: fence.token });
        batch.push({ ...appendOf(of, "b", "c"), token: fence.token, ...(isEnd && { finish }) });
      }
      for (const each of [whole, batch]) {
        expect(await store.commit(each)).toMatchObject(each.map(() => ({ ok: true })));
      }
      for (const [index, each] of batch.entries()) {
        expect(await templatesOf(each.thread)).toHaveLength(1);
        const texts = [whole[index], each].flatMap((append) => (append ? textsIn(append) : []));
        expect(await textsOf(each.thread)).toEqual(texts);
      }
    }),
  );

  it.each([false, true])("may be written again after a lost answer; where runs end: %s", (isEnd) =>
    withRegistryScene(fixture, async ({ registry, request, thread: own }) => {
      const { run, fence } = leased(await registry.start(request()));
      let isLost = true;
      const losing = createPostgresLogStore({
        ...database,
        async commit<Row extends pg.QueryResultRow>(query: pg.QueryConfig) {
          const answer = await database.commit<Row>(query);
          if (isLost) throw new Error("the answer is lost");
          return answer;
        },
      });
      const { token } = fence;
      const first = { ...appendOf(own, "a", "b"), token };
      await expect(losing.commit([first])).rejects.toThrow("lost");
      isLost = false;
      expect(await losing.commit([first])).toMatchObject([{ ok: true, first: 1 }]);
      const finish = { runId: run.runId, status: "success" } as const;
      const second = { ...appendOf(own, "c"), token, ...(isEnd && { finish }) };
      expect(await losing.commit([second])).toMatchObject([{ ok: true, first: 3 }]);
      expect(await templatesOf(own)).toHaveLength(1);
      expect(await textsOf(own)).toEqual([...textsIn(first), ...textsIn(second)]);
    }),
  );

  it("are those of their log, also where another log has the same ids", async () => {
    const threads = [newThread(), newThread()];
    const appends = threads.map((of) => appendOf(of, "a", "b", "c", "|run-1"));
    for (const of of threads) await written(store, of);
    for (const each of appends) await store.commit([each]);
    await outside.query("update throughline.entry_templates set id = 7");
    await outside.query(
      `update throughline.log_entries e set template = 7 from throughline.entry_templates p
       where e.log_id = p.log_id and e.template is not null`,
    );
    for (const each of appends) {
      const texts = textsIn(each);
      expect(await textsOf(each.thread)).toEqual(texts);
      const loaded = await store.load?.(each.thread, LOAD);
      expect(loaded?.entries.map(({ text }) => text)).toEqual(texts);
      const range = await store.compaction?.uncompacted(each.thread, EVERY, 9);
      expect(range?.entries.map(({ text }) => text)).toEqual(texts);
    }
    const [merging, other] = threads;
    if (!merging || !other) return expect.unreachable();
    const [range] = await store.read([{ thread: merging, epoch: undefined, afterSeq: 0 }], 1);
    const text = JSON.stringify(note(merging, "abc"));
    await store.compaction?.compact(merging, {
      ...{ epoch: range?.epoch ?? "", floor: 1, compacted: 0, through: 4 },
      dropped: [1, 2],
      merged: [{ seq: 3, text, bytes: text.length }],
    });
    await store.compaction?.tidy?.(merging, 0, 4);
    expect([await templatesOf(merging), await templatesOf(other)]).toEqual([[], [1]]);
  });

  it("are brought by a page whose entries use them, and no others", async () => {
    const epoch = await written(store, thread, "a b |run-1", "c d |run-2", "e");
    const brought: unknown[] = [];
    const watching = createPostgresLogStore({
      ...database,
      pool: Object.assign(Object.create(database.pool), {
        async query(...args: unknown[]) {
          const answer = await Reflect.apply(database.pool.query, database.pool, args);
          brought.push(answer.rows[0].templates?.split("\u001e").length);
          return answer;
        },
      }),
    });
    await store.saveSnapshot(thread, { position: { epoch, seq: 3 }, foldVersion: 1, state: 3 });
    await store.compaction?.compact(thread, {
      epoch,
      floor: 1,
      compacted: 0,
      through: 3,
      dropped: [],
      merged: [],
    });
    const request = { thread, epoch: undefined };
    for (const afterSeq of [0, 3, 6]) await watching.read([{ ...request, afterSeq }], 9);
    await watching.load?.(thread, LOAD);
    expect(seqsOf((await watching.compaction?.uncompacted(thread, EVERY, 9))?.entries)).toEqual([4, 5, 6]);
    expect(brought).toEqual([2, 1, undefined, 1, 1]);
  });

  it("are trimmed with the last entry that uses them, whatever tokens other logs have", async () => {
    const [early, late] = [newThread(), newThread()];
    for (const [of, token] of [
      [early, 1n],
      [late, 9n],
    ] as const) {
      await store.open(of, token, undefined);
      await store.commit([{ ...appendOf(of, "a", "b", "c", "d"), token }]);
    }
    const trim = async (through: number) => {
      const opened = await store.open(early, 2n, undefined);
      if (!opened.ok) return expect.unreachable();
      const { epoch } = opened.head;
      await store.saveSnapshot(early, { position: { epoch, seq: through }, foldVersion: 1, state: 0 });
      expect(await store.trim(early, epoch, through, 0)).toMatchObject({ floor: through + 1 });
    };
    await trim(2);
    expect(await textsOf(early)).toHaveLength(2);
    await store.commit([{ ...appendOf(early, "e", "f"), token: 2n }]);
    await trim(3);
    expect(await templatesOf(early)).toEqual([1, 2]);
    // From here on there is no entry of the lower token.
    await trim(4);
    expect(await templatesOf(early)).toEqual([2]);
    expect(await textsOf(early)).toHaveLength(2);
  });
});
