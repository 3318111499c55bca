import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fenceOf, newThread, notes, readAll, write } from "../conformance/log-scene.js";
import { createThreadLog } from "../log/create-thread-log.js";
import type { ThreadLog } from "../log/thread-log.js";
import { openPostgresFixture, type PostgresFixture } from "../testing/postgres-fixture.js";
import { subjectKey, type ThreadRef } from "../thread-ref.js";
import { openPostgres } from "./database.js";
import { lockedThreadsStatement } from "./log/append.js";
import { createPostgresLogStore } from "./log/log-store.js";

const ROUNDS = 10;
/** Far below a statement's deadline, which is how long a commit would wait for the lock, and wait again. */
const SOON_MS = 3_000;

describe("A thread's row that another session holds", () => {
  let fixture: PostgresFixture;
  let elsewhere: pg.Client;
  beforeAll(async () => {
    fixture = await openPostgresFixture();
    elsewhere = new pg.Client({ connectionString: fixture.url });
    await elsewhere.connect();
  });
  afterAll(async () => {
    await elsewhere?.end();
    await fixture?.close();
  });

  async function using(committers: number, work: (log: ThreadLog) => Promise<void>): Promise<void> {
    const database = await openPostgres({ connection: fixture.url, committers });
    const log = createThreadLog({ store: createPostgresLogStore(database) });
    try {
      await work(log);
    } finally {
      await elsewhere.query("rollback");
      await log.close();
      await database.close();
    }
  }

  async function lock(...threads: readonly ThreadRef[]): Promise<void> {
    await elsewhere.query("begin");
    await elsewhere.query("select 1 from throughline.threads where thread_id = any($1) for update", [
      threads.map(({ threadId }) => threadId),
    ]);
  }

  const append = (log: ThreadLog, thread: ThreadRef, text: string) =>
    log.append(thread, notes(thread, text), fenceOf(thread, 1));

  it("is found at once by its whole key, and no other with it", async () => {
    const thread = newThread();
    const threads = [
      thread,
      { ...thread, account: `${thread.account}-b` },
      { ...thread, subject: "ann" },
      { ...thread, threadId: `${thread.threadId}-b` },
    ];
    const database = await openPostgres({ connection: fixture.url });
    const keys = [
      threads.map(({ account }) => account),
      threads.map(subjectKey),
      threads.map(({ threadId }) => threadId),
    ];
    const locked = async () => {
      const { rows } = await database.writer.query<{ ord: number }>(
        lockedThreadsStatement("throughline"),
        keys,
      );
      return rows.map(({ ord }) => ord);
    };
    try {
      for (const each of threads) await createPostgresLogStore(database).open(each, 1n, undefined);
      expect(await locked()).toEqual([]);
      for (const [index, { account, threadId, ...rest }] of threads.entries()) {
        await elsewhere.query("begin");
        await elsewhere.query(
          "select 1 from throughline.threads where account = $1 and subject = $2 and thread_id = $3 for update",
          [account, subjectKey(rest), threadId],
        );
        expect(await locked()).toEqual([index + 1]);
        await elsewhere.query("rollback");
      }
    } finally {
      await database.close();
    }
  });

  it("is asked for without a lock on any that was not asked about", async () => {
    const [asked, other] = [newThread(), newThread()];
    await using(1, async (log) => {
      for (const thread of [asked, other]) await write(log, thread, ["a"]);
      const asking = new pg.Client({ connectionString: fixture.url });
      await asking.connect();
      try {
        await asking.query("begin");
        const key = [asked.account, subjectKey(asked), asked.threadId].map((part) => [part]);
        await asking.query(lockedThreadsStatement("throughline"), key);
        const take = ({ threadId }: ThreadRef) =>
          elsewhere.query("select 1 from throughline.threads where thread_id = $1 for update skip locked", [
            threadId,
          ]);
        expect(await take(asked)).toMatchObject({ rowCount: 0 });
        expect(await take(other)).toMatchObject({ rowCount: 1 });
      } finally {
        await asking.end();
      }
    });
  });

  it.each([1, 4])("delays the appends of no other thread, with %i committers", (committers) =>
    using(committers, async (log) => {
      const held = newThread();
      const others = Array.from({ length: 20 }, () => newThread());
      for (const thread of [held, ...others]) await write(log, thread, ["a"]);
      await lock(held);
      const startedAt = performance.now();
      let isHeldWritten = false;
      const waiting: Promise<unknown>[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const appended = append(log, held, `${round}`).then(() => {
          isHeldWritten = true;
        });
        waiting.push(appended);
        await Promise.all(others.map((thread) => append(log, thread, `${round}`)));
      }
      expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
      expect(isHeldWritten).toBe(false);
      await elsewhere.query("commit");
      await Promise.all(waiting);
      const texts = ["a", ...Array.from({ length: ROUNDS }, (_, round) => `${round}`)];
      for (const thread of [held, ...others]) expect(await readAll(log, thread)).toEqual(texts);
    }),
  );

  it("delays no other thread when many rows are held, and each is written once it is free", () =>
    using(1, async (log) => {
      const held = Array.from({ length: 10 }, () => newThread());
      const free = Array.from({ length: 10 }, () => newThread());
      for (const thread of [...held, ...free]) await write(log, thread, ["a"]);
      await lock(...held);
      const startedAt = performance.now();
      const waiting = held.map((thread) => append(log, thread, "b"));
      await Promise.all(free.map((thread) => append(log, thread, "b")));
      expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
      await elsewhere.query("commit");
      await Promise.all(waiting);
      for (const thread of [...held, ...free]) expect(await readAll(log, thread)).toEqual(["a", "b"]);
    }));

  it("delays the thread that is opened meanwhile by no more than the lock", () =>
    using(1, async (log) => {
      const [held, fresh, unknown] = [newThread(), newThread(), newThread()];
      await write(log, held, ["a"]);
      await lock(held);
      const waiting = append(log, held, "b");
      await write(log, fresh, ["a"]);
      expect(await append(log, unknown, "a")).toEqual({ ok: false, reason: "deleted" });
      expect(await append(log, fresh, "b")).toMatchObject({ ok: true, first: 2 });
      await elsewhere.query("commit");
      expect(await waiting).toMatchObject({ ok: true, first: 2 });
    }));
});
