import { StoreOutage } from "@throughline/ai-core";
import { createClient } from "redis";
import { afterEach, beforeEach, describe, expect } from "vitest";
import {
  fenceOf,
  newThread,
  nextEvent,
  notes,
  readAll,
  runEnd,
  take,
  textsOf,
  write,
} from "../conformance/log-scene.js";
import { createThreadLog } from "../log/create-thread-log.js";
import type { ThreadLog } from "../port/thread-log.js";
import type { ThreadRef } from "../port/thread-ref.js";
import { openPostgres } from "../postgres/open-postgres.js";
import { itNeeds } from "../testing/it-needs.js";
import { findMissingRedis } from "../testing/launch-redis.js";
import { openRedisFixture, type RedisFixture } from "../testing/redis-fixture.js";
import { openRedisLogStore } from "./redis-log-store.js";

const itWithRedis = itNeeds(findMissingRedis());

let fixture: RedisFixture;
let thread: ThreadRef;
let logs: ThreadLog[];

afterEach(async () => {
  for (const log of logs) await log.close();
  await fixture.close();
});

async function openLog(patienceMs = 30_000): Promise<ThreadLog> {
  const log = createThreadLog({ store: await fixture.openStore(), patienceMs });
  logs.push(log);
  return log;
}

async function ask(...command: string[]): Promise<unknown> {
  const client = createClient({ url: fixture.redis.url });
  await client.connect();
  try {
    return await client.sendCommand(command);
  } finally {
    client.destroy();
  }
}

/** With everysec an acknowledged write may wait for a slow disk, and then even a kill takes it along. */
async function untilWritten(): Promise<void> {
  const persistence = async () => String(await ask("INFO", "persistence"));
  await expect.poll(persistence, { timeout: 20_000 }).toContain("aof_buffer_length:0");
}

/** What a power cut would leave: everything from before `work`, nothing of it. */
async function cutPowerAfter(work: () => Promise<void>): Promise<void> {
  await untilWritten();
  const size = fixture.redis.fileSize();
  await work();
  await fixture.redis.kill();
  fixture.redis.truncateFile(size);
  await fixture.redis.restart();
}

describe("a log in Redis with appendfsync everysec", () => {
  beforeEach(async () => {
    fixture = await openRedisFixture({ appendfsync: "everysec" });
    thread = newThread();
    logs = [];
  });

  itWithRedis(
    "tells a reader that the thread is deleted, also between the stream's end and the tombstone",
    async () => {
      const log = await openLog();
      await write(log, thread, ["a", "b"]);
      const before = await log.head(thread);
      const database = await openPostgres({ connection: fixture.databaseUrl, maxConnections: 2 });
      const deleter = await database.pool.connect();
      try {
        await deleter.query("begin");
        await deleter.query(`select 1 from ${database.schema}.threads for update`);
        await ask("FLUSHALL");
        const reading = log.read(thread, before);
        const waits = async () =>
          (await database.pool.query("select 1 from pg_locks where not granted")).rows.length;
        await expect.poll(waits).toBeGreaterThan(0);
        await deleter.query(
          `update ${database.schema}.threads set deleted = true, epoch = 'another', head = 0`,
        );
        await deleter.query("commit");
        expect(await reading).toEqual({ kind: "deleted" });
      } finally {
        deleter.release();
        await database.close();
      }
    },
  );

  itWithRedis("says that Redis answers, that it does not, and that it does again", async () => {
    const database = await openPostgres({ connection: fixture.databaseUrl, maxConnections: 2 });
    const store = await openRedisLogStore({ url: fixture.redis.url, database });
    try {
      await store.ping();
      await fixture.redis.kill();
      await expect(store.ping()).rejects.toThrow();
      await fixture.redis.restart();
      await expect
        .poll(
          () =>
            store.ping().then(
              () => "answers",
              () => "away",
            ),
          { timeout: 20_000 },
        )
        .toBe("answers");
    } finally {
      await store.close();
      await database.close();
    }
  });

  itWithRedis("goes on in its epoch when Redis was killed and its writer's last word is there", async () => {
    const log = await openLog();
    const tail = log.tail(thread, undefined)[Symbol.asyncIterator]();
    await write(log, thread, ["a", "b"]);
    const before = await log.head(thread);
    await untilWritten();
    await fixture.redis.kill();
    await fixture.redis.restart();
    await log.append(thread, notes(thread, "c"), fenceOf(thread, 1));
    expect(textsOf(await take(tail, 3))).toEqual(["a", "b", "c"]);
    expect(await log.head(thread)).toEqual({ epoch: before?.epoch, seq: 3 });
    await tail.return?.();
  });

  itWithRedis("R22: tells a watcher of what its writer knows was lost, and keeps the rest", async () => {
    const log = await openLog();
    await write(log, thread, ["a", "b"]);
    const tail = log.tail(thread, undefined)[Symbol.asyncIterator]();
    expect(textsOf(await take(tail, 2))).toEqual(["a", "b"]);
    await cutPowerAfter(async () => {
      await log.append(thread, notes(thread, "lost"), fenceOf(thread, 1));
      expect(textsOf(await take(tail, 1))).toEqual(["lost"]);
    });
    const old = await log.head(thread);
    await log.append(thread, notes(thread, "c"), fenceOf(thread, 1));
    expect(await readAll(log, thread)).toEqual(["a", "b", "c"]);
    const now = await log.head(thread);
    expect(await nextEvent(tail)).toMatchObject({ kind: "gap", reason: "epoch", head: now });
    expect(now?.epoch).not.toBe(old?.epoch);
    expect(await log.read(thread, { epoch: old?.epoch ?? "", seq: 3 })).toMatchObject({
      kind: "gap",
      reason: "epoch",
      head: now,
    });
  });

  itWithRedis("R22: takes a restart for a loss when nobody is left who could know", async () => {
    await write(await openLog(), thread, ["a", "b"]);
    const before = await logs[0]?.head(thread);
    await untilWritten();
    await fixture.redis.kill();
    await fixture.redis.restart();
    const heir = await openLog();
    await write(heir, thread, ["c"], 2);
    const after = await heir.head(thread);
    expect(after?.epoch).not.toBe(before?.epoch);
    expect(await readAll(heir, thread)).toEqual(["a", "b", "c"]);
  });

  itWithRedis("R22: begins anew after what PostgreSQL knows when all of Redis is gone", async () => {
    const log = await openLog();
    await write(log, thread, ["a"]);
    await log.append(thread, [runEnd(thread, "run-1"), ...notes(thread, "b")], fenceOf(thread, 1));
    const before = await log.head(thread);
    const tail = log.tail(thread, before)[Symbol.asyncIterator]();
    const next = nextEvent(tail);
    await ask("FLUSHALL");
    await log.append(thread, notes(thread, "c"), fenceOf(thread, 1));
    expect(await next).toMatchObject({ kind: "gap", reason: "epoch" });
    const kept = [{ seq: 2, envelope: { type: "run_end" } }];
    const gap = await log.read(thread, undefined);
    expect(gap).toMatchObject({ kind: "gap", reason: "trimmed", head: { seq: 3 }, kept });
    expect(await log.terminal(thread, "run-1")).toMatchObject(kept[0] ?? {});
  });

  itWithRedis(
    "R22: waits for a Redis that is away, tells nobody, and writes once when it is back",
    async () => {
      const log = await openLog();
      await write(log, thread, ["a"]);
      const tail = log.tail(thread, undefined)[Symbol.asyncIterator]();
      await take(tail, 1);
      await untilWritten();
      await fixture.redis.kill();
      let settled = false;
      const appended = log.append(thread, notes(thread, "b"), fenceOf(thread, 1)).finally(() => {
        settled = true;
      });
      const told = take(tail, 1);
      expect(settled).toBe(false);
      await fixture.redis.restart();
      expect(await appended).toMatchObject({ ok: true, first: 2 });
      expect(textsOf(await told)).toEqual(["b"]);
      expect(await readAll(log, thread)).toEqual(["a", "b"]);
      await tail.return?.();
    },
  );

  itWithRedis(
    "R22: holds an append while Redis is away, and fails a read that has waited long enough",
    async () => {
      const log = await openLog(200);
      await write(log, thread, ["a"]);
      await untilWritten();
      await fixture.redis.kill();
      const held = log.append(thread, notes(thread, "b"), fenceOf(thread, 1));
      await expect(log.head(thread)).rejects.toBeInstanceOf(StoreOutage);
      await fixture.redis.restart();
      expect(await held).toMatchObject({ ok: true, first: 2 });
      const patient = await openLog();
      expect(await readAll(patient, thread)).toEqual(["a", "b"]);
    },
  );

  itWithRedis("holds an append while Redis is full", async () => {
    const log = await openLog();
    await write(log, thread, ["a"]);
    await ask("CONFIG", "SET", "maxmemory", "1");
    const held = log.append(thread, notes(thread, "b"), fenceOf(thread, 1));
    const refusals = async () => String(await ask("INFO", "errorstats"));
    await expect.poll(refusals).toContain("errorstat_OOM");
    await ask("CONFIG", "SET", "maxmemory", "0");
    expect(await held).toMatchObject({ ok: true, first: 2 });
  });

  itWithRedis("keeps two connections whatever the number of watchers", async () => {
    const log = await openLog();
    const count = async () =>
      String(await ask("CLIENT", "LIST"))
        .trim()
        .split("\n").length;
    const before = await count();
    const threads = Array.from({ length: 50 }, () => newThread());
    const tails = threads.flatMap((each) =>
      [1, 2, 3].map(() => log.tail(each, undefined)[Symbol.asyncIterator]()),
    );
    const first = tails.map((tail) => take(tail, 1));
    await Promise.all(threads.map((each) => write(log, each, ["hello"])));
    await Promise.all(first);
    expect(await count()).toBe(before);
    await Promise.all(tails.map((tail) => tail.return?.()));
  });
});

describe("a log in Redis with appendfsync always", () => {
  beforeEach(async () => {
    fixture = await openRedisFixture({ appendfsync: "always" });
    thread = newThread();
    logs = [];
  });

  itWithRedis("R19: keeps its epoch through a restart, whoever writes next", async () => {
    const log = await openLog();
    await write(log, thread, ["a", "b"]);
    const before = await log.head(thread);
    await fixture.redis.kill();
    await fixture.redis.restart();
    const heir = await openLog();
    await write(heir, thread, ["c"], 2);
    expect(await heir.head(thread)).toEqual({ epoch: before?.epoch, seq: 3 });
    expect(await readAll(heir, thread)).toEqual(["a", "b", "c"]);
  });
});
