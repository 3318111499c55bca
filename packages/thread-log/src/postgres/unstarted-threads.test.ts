import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newThread } from "../conformance/log-scene.js";
import { neighboursOf } from "../conformance/neighbourhood.js";
import { openTestDatabase, type TestDatabase } from "../testing/test-database.js";
import { subjectKey, type ThreadRef } from "../thread-ref.js";
import { openPostgres, type PostgresDatabase } from "./database.js";
import { createPostgresLogStore } from "./log/log-store.js";
import { deleteUnstartedThreads } from "./log/trim.js";
import { createPostgresRunRegistry } from "./registry/run-registry.js";

describe("A thread in which nothing ever started", () => {
  let server: TestDatabase;
  let database: PostgresDatabase;
  let outside: pg.Client;
  let thread: ThreadRef;
  beforeAll(async () => {
    server = await openTestDatabase();
    database = await openPostgres({ connection: server.url });
    outside = new pg.Client({ connectionString: server.url });
    await outside.connect();
  });
  afterAll(async () => {
    await outside?.end();
    await database?.close();
    await server?.close();
  });
  beforeEach(async () => {
    for (const table of ["threads", "stops", "runs"]) await outside.query(`delete from throughline.${table}`);
    thread = newThread();
  });

  const keyOf = (of: ThreadRef) => [of.account, subjectKey(of), of.threadId];
  const SAME = "account = $1 and subject = $2 and thread_id = $3";

  /** Made by a stop of a run that is not there, which is long past. */
  async function unstarted(of: ThreadRef): Promise<void> {
    await createPostgresRunRegistry(database).stop(of, { runId: "unknown" });
    await outside.query(
      `update throughline.threads set created_at = now() - interval '2 hours' where ${SAME}`,
      keyOf(of),
    );
    await outside.query(
      `update throughline.stops set expires_at = now() - interval '1 minute' where ${SAME}`,
      keyOf(of),
    );
  }

  async function threadsLeft(): Promise<number> {
    const { rowCount } = await outside.query("select 1 from throughline.threads");
    return rowCount ?? 0;
  }

  it.each([
    ["is young", `update throughline.threads set created_at = now() where ${SAME}`],
    ["was written", `update throughline.threads set fence = 1 where ${SAME}`],
    ["is a tombstone", `update throughline.threads set deleted = true where ${SAME}`],
    [
      "has a stop that still holds",
      `update throughline.stops set expires_at = now() + interval '1 hour' where ${SAME}`,
    ],
  ])("stays where it %s, and its neighbours go", async (_, change) => {
    for (const each of [...neighboursOf(thread), thread]) await unstarted(each);
    await outside.query(change, keyOf(thread));
    expect(await deleteUnstartedThreads(database, 9)).toBe(3);
    expect(await threadsLeft()).toBe(1);
  });

  it("stays where it has a run, and its neighbours go", async () => {
    for (const each of [...neighboursOf(thread), thread]) await unstarted(each);
    await outside.query(
      `insert into throughline.runs (account, subject, thread_id, run_id, graph_id, origin_kind, status, start_kind, request,
         preempts, fence) values ($1, $2, $3, 'waits', 'g', 'client', 'queued', 'input', '{}', false, 0)`,
      keyOf(thread),
    );
    expect(await deleteUnstartedThreads(database, 9)).toBe(3);
    expect(await threadsLeft()).toBe(1);
  });

  it("is left to the next round while it is held, and goes in the order of its making", async () => {
    const [first, second] = [newThread(), newThread()];
    for (const each of [first, second]) await unstarted(each);
    // A writer's thread is not touched by any of this.
    await createPostgresLogStore(database).open(thread, 1n, undefined);
    await outside.query("begin");
    await outside.query(`select 1 from throughline.threads where ${SAME} for update`, keyOf(first));
    try {
      expect(await deleteUnstartedThreads(database, 9)).toBe(1);
    } finally {
      await outside.query("rollback");
    }
    expect(await threadsLeft()).toBe(2);
    await unstarted(second);
    expect(await deleteUnstartedThreads(database, 1)).toBe(1);
    const { rowCount } = await outside.query(
      `select 1 from throughline.threads where ${SAME}`,
      keyOf(second),
    );
    expect(rowCount).toBe(1);
  });
});
