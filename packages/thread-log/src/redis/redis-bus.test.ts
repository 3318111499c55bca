import { afterAll, afterEach, beforeAll, describe, expect, type TestContext, vi } from "vitest";
import { itNeeds } from "../../../embedded-postgres/src/testing/it-needs.js";
import { fenceOf, newThread, notes, take, textsOf, write } from "../conformance/log-scene.js";
import { type BusFixture, type BusInstance, openBusFixture } from "../testing/bus-fixture.js";
import { countStatements } from "../testing/count-statements.js";
import {
  findMissingRedis,
  launchRedis,
  launchRedisCluster,
  type OwnRedis,
  type RedisOptions,
} from "../testing/launch-redis.js";
import { type StallingProxy, startStallingProxy } from "../testing/stalling-proxy.js";
import type { ThreadRef } from "../thread-ref.js";

const itWithRedis = itNeeds(findMissingRedis());
const eventually = (condition: () => unknown) => vi.waitFor(condition, { timeout: 10_000, interval: 20 });

let fixture: BusFixture;
beforeAll(async () => {
  fixture = await openBusFixture();
});
afterEach(() => fixture.closeInstances());
afterAll(() => fixture?.close());

async function startRedis({ onTestFinished }: TestContext, options?: RedisOptions): Promise<OwnRedis> {
  const redis = await launchRedis(options);
  onTestFinished(() => redis.stop());
  return redis;
}

async function startProxy({ onTestFinished }: TestContext, redis: OwnRedis): Promise<StallingProxy> {
  const proxy = await startStallingProxy(redis.url);
  onTestFinished(() => proxy.stop());
  return proxy;
}

/** Writes on one instance, and gives what arrives at another that tails the thread from its beginning. */
async function connectPair(writerUrl: string, readerUrl = writerUrl) {
  const [writer, reader] = await Promise.all([
    fixture.openInstance(writerUrl),
    fixture.openInstance(readerUrl),
  ]);
  const thread = newThread();
  await write(writer.log, thread, ["0"]);
  const tail = reader.log.tail(thread, undefined)[Symbol.asyncIterator]();
  expect(textsOf(await take(tail, 1))).toEqual(["0"]);
  // The next one finds the tail waiting.
  const next = async (text: string) => {
    const arriving = take(tail, 1);
    await append(writer, thread, text);
    const before = performance.now();
    expect(textsOf(await arriving)).toEqual([text]);
    return performance.now() - before;
  };
  return { writer, reader, thread, tail, next };
}

async function append({ log }: BusInstance, thread: ThreadRef, ...texts: readonly string[]): Promise<void> {
  expect(await log.append(thread, notes(thread, ...texts), fenceOf(thread, 1))).toMatchObject({ ok: true });
}

describe("the bus", () => {
  itWithRedis(
    "brings entries to another instance, which reads nothing for them and is told by nothing else",
    async (context) => {
      const redis = await startRedis(context);
      const { writer, reader, next } = await connectPair(redis.url);
      const notifyOthers = vi.spyOn(writer.database, "notifyOthers");
      const statements = countStatements(reader.database.pool);
      for (let n = 1; n <= 20; n++) await next(`${n}`);
      expect(reader.traffic.received).toBe(21);
      expect(statements).toEqual([]);
      expect(notifyOthers).not.toHaveBeenCalled();
      expect(writer.states).toEqual(["connected"]);
    },
  );

  itWithRedis(
    "is as good as the database's own wake-ups when the writer alone has lost it",
    async (context) => {
      const redis = await startRedis(context);
      const proxy = await startProxy(context, redis);
      const { writer, reader, next } = await connectPair(proxy.url, redis.url);
      proxy.setDark(true);
      // Sent into a connection that is not known to be dead.
      expect(await next("1")).toBeLessThan(2_000);
      await eventually(() => expect(writer.states.at(-1)).toBe("away"));
      expect(await next("2")).toBeLessThan(2_000);
      const { undelivered } = writer.traffic;
      expect(undelivered).toBeGreaterThanOrEqual(2);
      expect(reader.states).toEqual(["connected"]);
      proxy.setDark(false);
      await eventually(() => expect(writer.states.at(-1)).toBe("connected"));
      const { published } = writer.traffic;
      await next("3");
      expect(writer.traffic).toMatchObject({ published: published + 1, undelivered });
    },
  );

  itWithRedis("is replaced by reading every second where the reader alone has lost it", async (context) => {
    const redis = await startRedis(context);
    const proxy = await startProxy(context, redis);
    const { writer, reader, next } = await connectPair(redis.url, proxy.url);
    proxy.setDark(true);
    await eventually(() => expect(reader.states.at(-1)).toBe("away"));
    expect(await next("1")).toBeLessThan(3_000);
    expect(writer.traffic.undelivered).toBe(0);
    proxy.setDark(false);
    await eventually(() => expect(reader.states.at(-1)).toBe("connected"));
    const { received } = reader.traffic;
    expect(await next("2")).toBeLessThan(2_000);
    expect(reader.traffic.received).toBe(received + 1);
    // Now it is refused at once, and tries again more often than it reads.
    await proxy.stop();
    await eventually(() => expect(reader.states.at(-1)).toBe("away"));
    for (const text of ["3", "4", "5"]) expect(await next(text)).toBeLessThan(3_000);
    expect(writer.traffic.undelivered).toBe(0);
  });

  itWithRedis(
    "loses and doubles nothing when Redis is killed, emptied or stopped, and goes on when it is back",
    async (context) => {
      const redis = await startRedis(context);
      const { writer, reader, thread, tail, next } = await connectPair(redis.url);
      await append(writer, thread, "1", "2");
      await redis.kill();
      await append(writer, thread, "3");
      await eventually(() => expect(writer.states.at(-1)).toBe("away"));
      await append(writer, thread, "4");
      await redis.restart();
      await eventually(() =>
        expect([writer, reader].map(({ states }) => states.at(-1))).toEqual(["connected", "connected"]),
      );
      await append(writer, thread, "5");
      await redis.send("FLUSHALL");
      await append(writer, thread, "6");
      redis.pause();
      await append(writer, thread, "7");
      await eventually(() =>
        expect([writer, reader].map(({ states }) => states.at(-1))).toEqual(["away", "away"]),
      );
      await append(writer, thread, "8");
      redis.resume();
      await eventually(() =>
        expect([writer, reader].map(({ states }) => states.at(-1))).toEqual(["connected", "connected"]),
      );
      await append(writer, thread, "9");
      expect(textsOf(await take(tail, 9))).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
      const { received } = reader.traffic;
      await next("10");
      expect(reader.traffic.received).toBe(received + 1);
    },
  );

  itWithRedis("moves to the replica that was made the primary", async (context) => {
    const primary = await startRedis(context);
    const replica = await startRedis(context, { settings: { replicaof: `127.0.0.1 ${primary.port}` } });
    const { writer, reader, next } = await connectPair(`${primary.url},127.0.0.1:${replica.port}`);
    expect([writer.states, reader.states]).toEqual([["connected"], ["connected"]]);
    await next("1");
    // The old primary lives on as a replica: it takes messages, and passes none of them on.
    await replica.send("REPLICAOF", "NO", "ONE");
    await primary.send("REPLICAOF", "127.0.0.1", String(replica.port));
    for (const { states } of [writer, reader]) {
      await eventually(() => expect(states.slice(1)).toContain("away"));
      await eventually(() => expect(states.at(-1)).toBe("connected"));
    }
    await primary.kill();
    const { received } = reader.traffic;
    await next("2");
    expect(reader.traffic.received).toBe(received + 1);
    expect(await writer.bus.command("k", ["SET", "k", "v"])).toBe("OK");
  });

  itWithRedis("works through any node of a cluster, and counts on all of them", async (context) => {
    const nodes = await launchRedisCluster();
    for (const node of nodes) context.onTestFinished(() => node.stop());
    const [first, second] = nodes;
    const { writer, reader, next } = await connectPair(first?.url ?? "", second?.url ?? "");
    await next("1");
    expect(reader.traffic.received).toBeGreaterThan(0);
    const keys = Array.from({ length: 12 }, (_, n) => `key-${n}`);
    await eventually(async () => expect(await writer.bus.command("key-0", ["GET", "key-0"])).toBeNull());
    for (const key of keys) expect(await writer.bus.command(key, ["INCR", key])).toBe(1);
    for (const key of keys) expect(await reader.bus.command(key, ["INCR", key])).toBe(2);
    const held = await Promise.all(nodes.map((node) => node.send("DBSIZE")));
    expect(held.every((count) => Number(count) > 0)).toBe(true);
    await first?.kill();
    await eventually(() => expect(writer.states.at(-1)).toBe("connected"));
    await next("2");
  });

  itWithRedis("starts without Redis, and takes it up when it comes", async (context) => {
    const redis = await startRedis(context);
    await redis.kill();
    const { writer, reader, next } = await connectPair(redis.url);
    expect(writer.states).toEqual(["away"]);
    await next("1");
    await redis.restart();
    await eventually(() =>
      expect([writer, reader].map(({ states }) => states.at(-1))).toEqual(["connected", "connected"]),
    );
    const { received } = reader.traffic;
    await next("2");
    expect(reader.traffic.received).toBe(received + 1);
  });

  itWithRedis(
    "does not make a request wait for a Redis that does not answer, but for the first one",
    async (context) => {
      const redis = await startRedis(context);
      const { bus } = await fixture.openInstance(redis.url);
      expect(await bus.command("k", ["INCR", "k"])).toBe(1);
      redis.pause();
      const before = performance.now();
      for (let n = 0; n < 50; n++) expect(await bus.command("k", ["INCR", "k"])).toBeUndefined();
      expect(performance.now() - before).toBeLessThan(600);
    },
  );

  itWithRedis("keeps nothing of a thread", async (context) => {
    const redis = await startRedis(context);
    const { writer, thread, tail } = await connectPair(redis.url);
    await append(writer, thread, "a secret");
    await take(tail, 1);
    expect(await redis.send("DBSIZE")).toBe(0);
    await writer.log.deleteThread(thread);
    expect(await take(tail, 1).catch(String)).toContain("deleted");
    expect(await redis.send("DBSIZE")).toBe(0);
  });
});
