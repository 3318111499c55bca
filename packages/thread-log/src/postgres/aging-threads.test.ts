import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newThread } from "../conformance/log-scene.js";
import { pagesOf, written } from "../conformance/store-scene.js";
import type { LogStore } from "../log/log-store.js";
import { openPostgresFixture, type PostgresFixture } from "../testing/postgres-fixture.js";
import { openTestPool } from "../testing/test-pool.js";
import type { ThreadRef } from "../thread-ref.js";

const DAY_MS = 86_400_000;

describe("Old threads in PostgreSQL", () => {
  let fixture: PostgresFixture;
  let outside: pg.Pool;
  let store: LogStore;
  let thread: ThreadRef;
  beforeAll(async () => {
    fixture = await openPostgresFixture();
    outside = openTestPool(fixture.url, 2);
    store = await fixture.openStore();
  });
  afterAll(async () => {
    await outside?.end();
    await fixture?.close();
  });
  beforeEach(() => {
    thread = newThread();
  });

  /** As if it, and its entries up to this one, were two days old. */
  async function age(through: number): Promise<void> {
    await outside.query(
      "update throughline.threads set created_at = created_at - interval '2 days' where thread_id = $1",
      [thread.threadId],
    );
    await outside.query(
      `update throughline.log_entries e set at = e.at - interval '2 days' from throughline.threads t
       where e.log_id = t.log_id and t.thread_id = $1 and e.seq <= $2`,
      [thread.threadId, through],
    );
  }

  async function setFloor(floor: number): Promise<void> {
    await outside.query("update throughline.threads set floor = $2 where thread_id = $1", [
      thread.threadId,
      floor,
    ]);
  }

  const isFound = async (find: Parameters<typeof pagesOf>[1]) =>
    (await pagesOf(thread.account, find, 100)).length === 1;
  const isAging = () => isFound((page) => store.aging(DAY_MS, page));
  const isCompactable = () =>
    isFound(
      async (page) => (await store.compaction?.compactable(DAY_MS, page)) ?? { threads: [], next: undefined },
    );

  it("are found by the first entry that can be read, however young the last is", async () => {
    const epoch = await written(store, thread, "a b |run-1 c |run-2 d");
    expect([await isAging(), await isCompactable()]).toEqual([false, false]);
    await age(3);
    expect([await isAging(), await isCompactable()]).toEqual([true, true]);
    await store.saveSnapshot(thread, { position: { epoch, seq: 3 }, foldVersion: 1, state: 0 });
    await store.trim(thread, epoch, 3, 9);
    expect(await store.kept(thread, 0, 9)).toHaveLength(1);
    expect([await isAging(), await isCompactable()]).toEqual([false, false]);
  });

  it("are found where a trim was interrupted, by what is left next to the floor of their own", async () => {
    const ends = Array.from({ length: 9 }, (_, n) => `|run-${n}`).join(" ");
    await written(store, thread, `${ends} a b`);
    // Others hold notes at every seq.
    await written(store, newThread(), "a b c d e f g h i j k");
    await age(0);
    await setFloor(10);
    expect(await isAging()).toBe(false);
    await setFloor(11);
    expect(await isAging()).toBe(true);
  });
});
