import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openServiceScene } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";
import { openTestPostgres, type TestPostgres } from "../testing/test-postgres.js";

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await openTestPostgres();
});
afterAll(() => postgres?.close());

/** As the version left it that kept entries in Redis: PostgreSQL has the ends of runs, and perhaps their positions. */
async function moveEntriesAway(): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    await client.query("delete from throughline.entries where end_of_run is null");
    await client.query("delete from throughline.snapshots");
    await client.query("update throughline.threads set snapshot_seq = 0, held_bytes = 0, unfolded_bytes = 0");
    await client.query("insert into throughline.meta (key, value) values ('log home', 'redis')");
  } finally {
    await client.end();
  }
}

it("Threads whose entries were in Redis show all their messages, and go on", async () => {
  const store = { kind: "postgres", databaseUrl: postgres.url } as const;
  const before = await openServiceScene({ store });
  const thread = before.thread("chat");
  await before.run(thread, "Hello");
  await before.run(thread, "And again");
  await before.close();
  await moveEntriesAway();

  const noticed: string[] = [];
  const after = await openServiceScene({
    store,
    observer: { noticed: (message) => void noticed.push(message) },
  });
  try {
    expect(noticed).toEqual([expect.stringContaining("kept in Redis by an earlier version")]);
    const visitor = after.watch(thread, { kind: "nothing" });
    await visitor.ended;
    await expectCheckpoint(after, thread, visitor.frames);
    const next = await after.run(thread, "And now?");
    expect(next.types().at(-1)).toBe("RUN_FINISHED");
    const returning = after.watch(thread, { kind: "nothing" });
    await returning.ended;
    await expectCheckpoint(after, thread, returning.frames);
    expect(after.failures).toEqual([]);
  } finally {
    await after.close();
  }
});
