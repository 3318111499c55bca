import { randomUUID } from "node:crypto";
import { openPostgres, openRedisBus, type PostgresDatabase, type RedisBus } from "@throughline/thread-log";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AccountLimiter,
  createSharedUsage,
  DEFAULT_LIMITS,
} from "../../packages/langgraph-server/src/testing/shared-usage.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigRedis, startRedis } from "../server/rig/start-redis.js";

interface LimitedInstance {
  readonly bus: RedisBus;
  readonly usage: AccountLimiter;
}

let postgres: RigPostgres;
let redis: RigRedis;
const databases: PostgresDatabase[] = [];
/** These wait for Redis however busy the machine is, so that they count exactly. */
const instances: LimitedInstance[] = [];
/** These don't. */
const hurried: LimitedInstance[] = [];
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  const databaseUrl = await postgres.createDatabase();
  for (let n = 0; n < 2; n += 1) {
    const database = await openPostgres({ connection: databaseUrl, maxConnections: 2 });
    databases.push(database);
    instances.push(limited(await openRedisBus({ url: redis.url, database, commandMs: 10_000 })));
    hurried.push(limited(await openRedisBus({ url: redis.url, database })));
  }
});
afterAll(async () => {
  for (const { bus } of [...instances, ...hurried]) bus.close();
  await Promise.all(databases.map((database) => database.close()));
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

function limited(bus: RedisBus): LimitedInstance {
  return { bus, usage: createSharedUsage(bus) };
}

const newAccount = () => `account-${randomUUID()}`;

/** As many attempts as told, on one instance after the other; gives how many of them passed. */
async function passing(
  attempts: number,
  attempt: (usage: AccountLimiter) => Promise<unknown>,
  among = instances,
): Promise<number> {
  let passed = 0;
  for (let n = 0; n < attempts; n += 1) {
    const { usage } = among[n % among.length] ?? expect.unreachable();
    const isRefused = await attempt(usage).then(
      () => false,
      ({ code }: { code?: string }) => code === "rate_limited",
    );
    if (!isRefused) passed += 1;
  }
  return passed;
}

describe("Two instances with one Redis", () => {
  it("let an account start exactly as many runs as one would", async () => {
    const limits = { ...DEFAULT_LIMITS, maxStartsPerMinute: 10 };
    const account = newAccount();
    const start = async (usage: AccountLimiter) =>
      (await usage.start(account, limits, async () => 0)).leave();
    expect(await passing(20, start)).toBe(10);
    const refusal = { code: "rate_limited", details: { limit: "maxStartsPerMinute", max: 10 } };
    await expect(start(instances[0]?.usage ?? expect.unreachable())).rejects.toMatchObject(refusal);
    const other = newAccount();
    await Promise.all(
      instances.map(({ usage }) => usage.start(other, { ...limits, maxStartsPerMinute: 2 }, async () => 0)),
    );
  });

  it("let an account send as many bytes as one would", async () => {
    const limits = { ...DEFAULT_LIMITS, maxBodyBytesPerMinute: 1_000 };
    const account = newAccount();
    // The last one that finds anything left may take more than that.
    expect(await passing(20, (usage) => usage.body(account, limits, 300))).toBe(4);
  });

  it("let an account watch as many streams as one would, and a watcher that leaves anywhere makes room", async () => {
    const limits = { ...DEFAULT_LIMITS, maxWatchers: 5 };
    const account = newAccount();
    const places: { leave(): void }[] = [];
    const watch = async (usage: AccountLimiter) => void places.push(await usage.watch(account, limits));
    expect(await passing(12, watch)).toBe(5);
    places.pop()?.leave();
    places.pop()?.leave();
    expect(await passing(12, watch)).toBe(2);
    for (const place of places) place.leave();
    expect(await passing(5, watch)).toBe(5);
    for (const place of places) place.leave();
  });

  it("export an account once at a time, and again when that has ended anywhere", async () => {
    const account = newAccount();
    const places: { leave(): void }[] = [];
    const take = async (usage: AccountLimiter) => void places.push(await usage.export(account));
    expect(await passing(6, take)).toBe(1);
    places.pop()?.leave();
    expect(await passing(6, take, instances.toReversed())).toBe(1);
    places.pop()?.leave();
  });

  it("count for themselves while it is away, and hardly wait for it", async () => {
    const limits = { ...DEFAULT_LIMITS, maxStartsPerMinute: 10 };
    const account = newAccount();
    const start = async (usage: AccountLimiter) =>
      (await usage.start(account, limits, async () => 0)).leave();
    redis.pause();
    try {
      const before = performance.now();
      expect(await passing(40, start, hurried)).toBe(20);
      expect(performance.now() - before).toBeLessThan(2_000);
    } finally {
      redis.resume();
    }
  });

  it("keep in it neither an account's name nor anything for longer than 70 s", async () => {
    const { bus } = instances[0] ?? expect.unreachable();
    const keys = String(await redis.ask("EVAL", "return table.concat(redis.call('KEYS', '*'), ' ')", "0"));
    const names = keys.match(/throughline:\S+/g) ?? [];
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      expect(name.startsWith(`${bus.keyPrefix}:`)).toBe(true);
      expect(name).not.toContain("account");
      const left = Number(/^:(-?\d+)/.exec(await redis.ask("PTTL", name))?.[1]);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(70_000);
    }
  });
});
