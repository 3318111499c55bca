import { expect, it } from "vitest";
import { fenceOf, newThread, notes, runEnd, textFold, textsOf, write } from "../conformance/log-scene.js";
import { createThreadLog } from "../log/create-thread-log.js";
import { openTestDatabase } from "../testing/test-database.js";
import { openPostgres } from "./database.js";
import { leaveRedisHome } from "./leave-redis-home.js";
import { createPostgresLogStore } from "./log/log-store.js";

it("A database whose entries were in Redis goes on in new epochs, once, and says what is gone", async () => {
  const test = await openTestDatabase();
  const database = await openPostgres({ connection: test.url });
  const [thread, folded, deleted] = [newThread(), newThread(), newThread()];
  try {
    const before = createThreadLog({ store: createPostgresLogStore(database) });
    for (const each of [thread, folded]) {
      await write(before, each, ["a", "b"]);
      await before.append(each, [runEnd(each, "run-1")], fenceOf(each, 1));
    }
    await write(before, thread, ["c", "d"], 1);
    await write(before, deleted, ["a"]);
    await before.deleteThread(deleted);
    const heads = [await before.head(thread), await before.head(folded)] as const;
    const position = heads[1];
    if (!position) return expect.unreachable();
    await before.saveSnapshot(folded, {
      position,
      foldVersion: textFold.version,
      state: ["a", "b", "run_end"],
    });
    await before.close();
    // As the version left it that kept entries in Redis: of the log PostgreSQL has the ends of runs alone.
    const { pool } = database;
    const rowOf = async ({ threadId }: { readonly threadId: string }) => {
      const { rows } = await pool.query(
        "select epoch, head::int, snapshot_seq::int from throughline.threads where thread_id = $1",
        [threadId],
      );
      return rows[0];
    };
    const tombstone = await rowOf(deleted);
    await pool.query("delete from throughline.entries where end_of_run is null");
    await pool.query("insert into throughline.meta (key, value) values ('log home', 'redis')");

    expect(await leaveRedisHome(database)).toBe(true);
    expect(await leaveRedisHome(database)).toBe(false);
    expect(await rowOf(deleted)).toEqual(tombstone);
    expect(await rowOf(folded)).toMatchObject({ head: 3, snapshot_seq: 3 });
    expect(await rowOf(thread)).toMatchObject({ head: 5, snapshot_seq: 0 });
    const after = createThreadLog({ store: createPostgresLogStore(database) });
    for (const [index, each] of [thread, folded].entries()) {
      const head = await after.head(each);
      expect(head?.epoch).not.toBe(heads[index]?.epoch);
      expect(await after.read(each, heads[index])).toMatchObject({ kind: "gap", reason: "epoch", head });
      expect(await after.read(each, undefined)).toMatchObject({ kind: "gap", reason: "trimmed" });
      expect(await after.terminal(each, "run-1")).toMatchObject({ envelope: { type: "run_end" } });
      await after.append(each, notes(each, "c"), fenceOf(each, 1));
      const rest = await after.read(each, head);
      expect(rest.kind === "entries" && textsOf(rest.entries)).toEqual(["c"]);
    }
    expect(await after.snapshot(thread, [textFold.version])).toBeUndefined();
    expect(await after.snapshot(folded, [textFold.version])).toMatchObject({ state: ["a", "b", "run_end"] });
    await after.close();
  } finally {
    await database.close();
    await test.close();
  }
});

it("A database whose entries were always its own is left as it is", async () => {
  const test = await openTestDatabase();
  const database = await openPostgres({ connection: test.url });
  try {
    const log = createThreadLog({ store: createPostgresLogStore(database) });
    const thread = newThread();
    await write(log, thread, ["a"]);
    const head = await log.head(thread);
    await database.pool.query("insert into throughline.meta (key, value) values ('log home', 'postgres')");
    expect(await leaveRedisHome(database)).toBe(false);
    expect(await log.head(thread)).toEqual(head);
    await log.close();
  } finally {
    await database.close();
    await test.close();
  }
});
