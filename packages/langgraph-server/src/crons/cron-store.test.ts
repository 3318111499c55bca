import { StoreOutage } from "@throughline/ai-core";
import { createMemoryDatabase, migrate, openPostgres, type PostgresDatabase } from "@throughline/thread-log";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMemoryCronStore } from "../server/memory/memory-crons.js";
import { SERVER_MIGRATIONS, SERVER_MIGRATIONS_RECORD } from "../server/migrations.js";
import { openTestPostgres, type TestPostgres } from "../testing/test-postgres.js";
import type { Cron } from "./cron.js";
import { type CronStore, RETAINED_TICKS } from "./cron-store.js";
import { manualTick, nextTime } from "./plan-tick.js";

import { createPostgresCronStore } from "./postgres-cron-store.js";

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const LEASE = 30_000;

interface World {
  /** Of one instance each, on the same data. */
  open(now: () => number): readonly [CronStore, CronStore];
  close(): Promise<void>;
}

async function memoryWorld(): Promise<World> {
  const database = createMemoryDatabase();
  return {
    open: (now) => [createMemoryCronStore(database, now), createMemoryCronStore(database, now)],
    close: async () => {},
  };
}

async function postgresWorld(): Promise<World> {
  const postgres: TestPostgres = await openTestPostgres();
  const open = () => openPostgres({ connection: postgres.url });
  const databases: readonly [PostgresDatabase, PostgresDatabase] = [await open(), await open()];
  await Promise.all(
    databases.map(({ pool, schema }) =>
      migrate(pool, schema, { record: SERVER_MIGRATIONS_RECORD, migrations: SERVER_MIGRATIONS }),
    ),
  );
  return {
    open: (now) => [
      createPostgresCronStore(databases[0], async () => now()),
      createPostgresCronStore(databases[1], async () => now()),
    ],
    async close() {
      await Promise.all(databases.map((database) => database.close()));
      await postgres.close();
    },
  };
}

describe.each([
  ["in memory", memoryWorld],
  ["in PostgreSQL", postgresWorld],
])("The store of crons %s", (_, openWorld) => {
  let world: World;
  let a: CronStore;
  let b: CronStore;
  let now = START;
  let account = 0;
  let acme = { account: "acme-0" };

  beforeAll(async () => {
    world = await openWorld();
    [a, b] = world.open(() => now);
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    await a.removeAll(acme.account);
    account += 1;
    acme = { account: `acme-${account}` };
    now = START;
  });

  function make(id: string, more: Partial<Cron["definition"]> = {}, scope: { subject?: string } = {}) {
    return (at: number): Cron => {
      const cron: Cron = {
        ...acme,
        ...scope,
        id: `${acme.account}-${id}`,
        virtualKeyId: "key-1",
        definition: {
          agent: "langgraph:sentinel",
          threadName: "watch",
          schedule: "every 1 min",
          timeZone: "UTC",
          input: { message: "Look around", state: { depth: 2 } },
          model: null,
          overlap: "skip",
          missed: "skip",
          jitterMs: 0,
          enabled: true,
          ...more,
        },
        anchorAt: at,
        nextAt: undefined,
        dueAt: undefined,
        createdAt: at,
        updatedAt: at,
      };
      return { ...cron, ...nextTime(cron, at) };
    };
  }
  const create = (id: string, more?: Partial<Cron["definition"]>, scope?: { subject?: string }) =>
    a.create(acme.account, 1_000, make(id, more, scope));

  it("gives back what was created, to its account and subject only", async () => {
    const cron = await create("one", {}, { subject: "ann" });
    if (!cron) throw new Error("It was refused.");
    expect((await b.find({ ...acme, subject: "ann" }, cron.id))?.cron).toEqual(cron);
    for (const stranger of [acme, { ...acme, subject: "bob" }, { account: "other", subject: "ann" }]) {
      expect(await b.find(stranger, cron.id)).toBeUndefined();
      expect(await b.list(stranger, { limit: 10 })).toEqual([]);
      expect(await b.change(stranger, cron.id, (same) => same)).toBeUndefined();
      expect(
        await b.addTick(stranger, cron.id, LEASE, (same, at) => manualTick(same, at, "x")),
      ).toBeUndefined();
      expect(await b.ticks(stranger, cron.id, { limit: 10 })).toEqual([]);
      expect(await b.remove(stranger, cron.id)).toBe(false);
    }
    expect(await b.remove({ ...acme, subject: "ann" }, cron.id)).toBe(true);
    expect(await a.find({ ...acme, subject: "ann" }, cron.id)).toBeUndefined();
  });

  it("takes no more than the account may have, however many ask at once", async () => {
    const made = await Promise.all(
      ["1", "2", "3", "4", "5"].map((id, index) =>
        (index % 2 ? a : b).create(acme.account, 3, make(id, {}, index % 2 ? { subject: "ann" } : {})),
      ),
    );
    expect(made.filter((cron) => cron !== undefined)).toHaveLength(3);
  });

  it("lists in order of creation, page by page, without loss", async () => {
    for (const id of ["c", "a", "b", "e", "d"]) {
      await create(id);
      if (id === "b") now += 1_000;
    }
    const seen: string[] = [];
    let after: { at: number; id: string } | undefined;
    for (;;) {
      const page = await a.list(acme, { limit: 2, after });
      seen.push(...page.map(({ cron }) => cron.id.slice(-1)));
      const last = page.at(-1);
      if (!last) break;
      after = { at: last.cron.createdAt, id: last.cron.id };
    }
    expect(seen).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("gives a due cron to one of two who claim at once, every time", async () => {
    const ids = Array.from({ length: 12 }, (_, index) => String.fromCharCode(97 + index));
    for (const id of ids) await create(id);
    expect(await a.claimDue(16, LEASE)).toEqual({ crons: 0, ticks: [], decided: [] });
    for (let round = 1; round <= 3; round += 1) {
      now = START + round * MINUTE;
      const claims = await Promise.all([a, b, a, b].map((store) => store.claimDue(5, LEASE)));
      const rest = await a.claimDue(16, LEASE);
      const claimed = [...claims, rest].flatMap(({ ticks }) => ticks.map(({ tick }) => tick));
      expect(claimed.map(({ cronId }) => cronId.slice(-1)).sort()).toEqual(ids);
      expect(new Set(claimed.map(({ id }) => id))).toEqual(new Set([new Date(now).toISOString()]));
      await Promise.all(claimed.map((tick) => a.settle(tick, { kind: "started", runId: "run" })));
    }
  });

  it("hands a tick whose deliverer died to somebody else, and only then", async () => {
    const cron = await create("one");
    now = START + MINUTE;
    const [claimed] = (await a.claimDue(16, LEASE)).ticks;
    now += LEASE - 1;
    expect(await b.claimPending(16, LEASE)).toEqual([]);
    now += 1;
    const [again, ...more] = (
      await Promise.all([a.claimPending(16, LEASE), b.claimPending(16, LEASE)])
    ).flat();
    expect(more).toEqual([]);
    expect(again?.tick).toEqual({ ...claimed?.tick, attempt: 1 });
    expect(again?.cron.id).toBe(cron?.id);
    if (again) await b.settle(again.tick, { kind: "started", runId: "run-1" });
    now += 10 * LEASE;
    expect(await a.claimPending(16, LEASE)).toEqual([]);
    expect((await a.find(acme, cron?.id ?? ""))?.lastTick?.outcome).toEqual({
      kind: "started",
      runId: "run-1",
    });
  });

  it("delivers a postponed tick again when its time has come", async () => {
    await create("one");
    now = START + MINUTE;
    const [claimed] = (await a.claimDue(16, LEASE)).ticks;
    if (claimed) await a.postpone(claimed.tick, 2_000);
    expect(await a.untilDue()).toBe(2_000);
    now += 2_000;
    expect(await b.claimPending(16, LEASE)).toHaveLength(1);
  });

  it("believes whoever started a run, not who was slower and found the thread busy", async () => {
    const cron = await create("one");
    now = START + MINUTE;
    const [claimed] = (await a.claimDue(16, LEASE)).ticks;
    if (!claimed) throw new Error("Nothing was due.");
    expect(await a.settle(claimed.tick, { kind: "skipped", reason: "busy" })).toBe(true);
    expect(await b.settle(claimed.tick, { kind: "started", runId: "run-1" })).toBe(true);
    expect(await b.settle(claimed.tick, { kind: "started", runId: "run-1" })).toBe(false);
    expect(await a.settle(claimed.tick, { kind: "skipped", reason: "busy" })).toBe(false);
    const [tick] = await a.ticks(acme, cron?.id ?? "", { limit: 5 });
    expect(tick?.outcome).toEqual({ kind: "started", runId: "run-1" });
  });

  it("keeps the latest ticks, newest first and page by page, and those that are pending", async () => {
    const cron = await create("one", { enabled: false });
    const id = cron?.id ?? "";
    for (let index = 0; index < RETAINED_TICKS + 20; index += 1) {
      now += 1_000;
      const made = await a.addTick(acme, id, LEASE, (one, at) => manualTick(one, at, `tick-${index}`));
      if (made && index > 2) await a.settle(made.tick, { kind: "missed" });
    }
    const first = await a.ticks(acme, id, { limit: 60 });
    const last = first.at(-1);
    const rest = await a.ticks(acme, id, {
      limit: 200,
      after: { at: last?.claimedAt ?? 0, id: last?.id ?? "" },
    });
    const names = [...first, ...rest].map((tick) => tick.id);
    expect(names[0]).toBe(`tick-${RETAINED_TICKS + 19}`);
    expect(names.slice(-3)).toEqual(["tick-2", "tick-1", "tick-0"]);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBe(RETAINED_TICKS + 3);
  });

  it("goes on with all other crons when one of them can't be claimed, and does not try that one again", async () => {
    const broken: Partial<Cron["definition"]> = JSON.parse('{"schedule":5,"timeZone":"UTC"}');
    await a.create(acme.account, 10, (at) => ({
      ...make("one")(at),
      definition: { ...make("one")(at).definition, ...broken },
    }));
    await create("two");
    now = START + MINUTE;
    const { ticks } = await a.claimDue(16, LEASE);
    expect(ticks.map(({ cron }) => cron.id.slice(-3))).toEqual(["two"]);
    now = START + 2 * MINUTE;
    expect((await a.claimDue(16, LEASE)).crons).toBe(1);
  });

  it("says how long until something is due, also of a paused cron, which is never", async () => {
    const cron = await create("one");
    now = START + 20_000;
    expect(await b.untilDue()).toBe(MINUTE - 20_000);
    await b.change(acme, cron?.id ?? "", (one, at) => {
      const paused = { ...one, definition: { ...one.definition, enabled: false }, updatedAt: at };
      return { ...paused, ...nextTime(paused, at) };
    });
    expect(await a.untilDue()).toBeUndefined();
    now = START + 10 * MINUTE;
    expect(await a.claimDue(16, LEASE)).toEqual({ crons: 0, ticks: [], decided: [] });
  });

  it("forgets an account's crons and nobody else's, or one person's of it", async () => {
    await create("one");
    await create("two", {}, { subject: "ann" });
    const bystander = `${acme.account}-bystander`;
    await a.create(bystander, 10, (at) => ({ ...make("three")(at), account: bystander }));
    expect(await b.removeAll(acme.account, "ann")).toBe(1);
    expect(await a.list(acme, { limit: 10 })).toHaveLength(1);
    expect(await b.removeAll(acme.account)).toBe(1);
    expect(await a.list({ account: bystander }, { limit: 10 })).toHaveLength(1);
    await a.removeAll(bystander);
  });
});

describe("The store of crons in PostgreSQL", () => {
  it("goes by the database's clock unless told otherwise, and says when the database is away", async () => {
    const postgres = await openTestPostgres();
    const database = await openPostgres({ connection: postgres.url });
    await migrate(database.pool, database.schema, {
      record: SERVER_MIGRATIONS_RECORD,
      migrations: SERVER_MIGRATIONS,
    });
    const store = createPostgresCronStore(database);
    const before = await database.pool.query<{ now: Date }>("select clock_timestamp() as now");
    const told = await store.now();
    const after = await database.pool.query<{ now: Date }>("select clock_timestamp() as now");
    expect(told).toBeGreaterThanOrEqual(before.rows[0]?.now.getTime() ?? 0);
    expect(told).toBeLessThanOrEqual(after.rows[0]?.now.getTime() ?? 0);
    await database.close();
    await expect(store.find({ account: "acme" }, "one")).rejects.toBeInstanceOf(StoreOutage);
    await postgres.close();
  });
});
