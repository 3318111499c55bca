import { createHash } from "node:crypto";
import type { PostgresDatabase } from "@throughline/thread-log";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createLogger, logEvents } from "../operations/logging.js";
import { createMetrics } from "../operations/metrics.js";
import type { BadRow } from "../operations/observer.js";

import { type MigratedDatabase, openMigratedDatabase } from "../testing/migrated-database.js";
import { createScriptedProvider } from "../testing/scripted-provider.js";
import { ann, openServiceScene } from "../testing/service-scene.js";
import { type Cron, tickOutcomeSchema } from "./cron.js";
import { cronDefinitionSchema, newCronSchema } from "./cron-definition.js";
import { CRON_FORMAT } from "./cron-rows.js";
import type { CronStore } from "./cron-store.js";
import { manualTick, nextTime } from "./plan-tick.js";
import { createPostgresCronStore } from "./postgres-cron-store.js";

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const LEASE = 30_000;
const acme = { account: "acme" };
const globex = { account: "globex" };

describe("A cron's row that can't be read", () => {
  let migrated: MigratedDatabase;
  let database: PostgresDatabase;
  /** Of two instances. */
  let a: CronStore;
  let b: CronStore;
  let now = START;
  let told: BadRow[];

  beforeAll(async () => {
    migrated = await openMigratedDatabase();
    ({ database } = migrated);
  });
  afterAll(() => migrated.close());
  beforeEach(async () => {
    await database.pool.query("delete from throughline.crons");
    now = START;
    told = [];
    [a, b] = [open(), open()];
  });

  function open(): CronStore {
    const store = createPostgresCronStore(database, async () => now);
    store.onBadRow((row) => void told.push(row));
    return store;
  }

  async function create(id: string, scope: { readonly account: string }): Promise<Cron> {
    const cron: Cron = {
      ...scope,
      id,
      virtualKeyId: "key-1",
      definition: {
        agent: "langgraph:sentinel",
        threadName: "watch",
        schedule: "every 1 min",
        timeZone: "UTC",
        input: {},
        model: null,
        overlap: "skip",
        missed: "skip",
        jitterMs: 0,
        enabled: true,
      },
      anchorAt: now,
      nextAt: undefined,
      dueAt: undefined,
      createdAt: now,
      updatedAt: now,
    };
    await a.create(scope.account, 100, (at) => ({ ...cron, ...nextTime(cron, at) }));
    return cron;
  }

  /** A field that a newer version knows. */
  const addField = (id: string) =>
    database.pool.query(
      `update throughline.crons set definition = (definition::jsonb || '{"region":"eu"}')::text where cron_id = $1`,
      [id],
    );
  const breakJson = (id: string) =>
    database.pool.query("update throughline.crons set definition = '{\"agent\":' where cron_id = $1", [id]);
  const idsOf = async (
    scope: { readonly account: string },
    page: Parameters<CronStore["list"]>[1] = { limit: 10 },
  ) => (await b.list(scope, page)).map(({ cron }) => cron.id);

  it("is set aside and told once with its id, while all others tick and are listed, of its tenant and of the next", async () => {
    for (const id of ["a1", "a2", "a3"]) await create(id, acme);
    for (const id of ["g1", "g2", "g3"]) await create(id, globex);
    await addField("a2");
    await breakJson("g2");
    now = START + MINUTE;
    const claims = await Promise.all([a.claimDue(16, LEASE), b.claimDue(16, LEASE)]);
    const claimed = claims.flatMap(({ ticks }) => ticks.map(({ cron }) => cron.id));
    expect(claimed.sort()).toEqual(["a1", "a3", "g1", "g3"]);
    expect(await idsOf(acme)).toEqual(["a1", "a3"]);
    expect(await idsOf(globex)).toEqual(["g1", "g3"]);
    expect(told.map(({ table, id }) => `${table} ${id}`).sort()).toEqual(["crons a2", "crons g2"]);
    expect(told.find(({ id }) => id === "a2")?.error).toBeInstanceOf(z.ZodError);
    // The next look is for a lease or a time to come, and not for what is set aside.
    expect(await a.untilDue()).toBe(LEASE);
    now = START + 2 * MINUTE;
    expect((await a.claimDue(16, LEASE)).ticks).toHaveLength(4);
    expect(told).toHaveLength(2);
  });

  it("stays for the operator, is not found by its tenant, and can be deleted", async () => {
    await create("a1", acme);
    await breakJson("a1");
    expect(await a.find(acme, "a1")).toBeUndefined();
    expect(await a.change(acme, "a1", (cron) => cron)).toBeUndefined();
    expect(await a.addTick(acme, "a1", LEASE, (cron, at) => manualTick(cron, at, "x"))).toBeUndefined();
    const { rows } = await database.pool.query("select definition, due_at from throughline.crons");
    expect(rows).toEqual([{ definition: '{"agent":', due_at: new Date(START + MINUTE) }]);
    expect(await a.remove(acme, "a1")).toBe(true);
    expect(told).toHaveLength(1);
  });

  it("costs no page its end: the list goes on behind it", async () => {
    for (const id of ["a1", "a2", "a3", "a4", "a5"]) await create(id, acme);
    await addField("a2");
    await addField("a3");
    expect(await idsOf(acme, { limit: 2 })).toEqual(["a1", "a4"]);
    expect(await idsOf(acme, { limit: 2, after: { at: START, id: "a4" } })).toEqual(["a5"]);
  });

  it("runs again where it was repaired, and in a version whose format is newer than the one that gave it up", async () => {
    for (const id of ["a1", "a2"]) await create(id, acme);
    await breakJson("a1");
    now = START + MINUTE;
    await a.claimDue(16, LEASE);
    await database.pool.query(
      `update throughline.crons set unreadable_format = null, definition = (
         select definition from throughline.crons where cron_id = 'a2') where cron_id = 'a1'`,
    );
    expect((await a.claimDue(16, LEASE)).ticks.map(({ cron }) => cron.id)).toEqual(["a1"]);

    await database.pool.query("update throughline.crons set unreadable_format = $1", [CRON_FORMAT - 1]);
    now = START + 2 * MINUTE;
    expect((await a.claimDue(16, LEASE)).ticks).toHaveLength(2);
    await a.change(acme, "a1", (cron) => cron);
    const { rows } = await database.pool.query(
      "select unreadable_format from throughline.crons order by cron_id",
    );
    expect(rows).toEqual([{ unreadable_format: null }, { unreadable_format: CRON_FORMAT - 1 }]);
  });

  it("may be a tick's: no other tick waits for it, and the cron is shown without it", async () => {
    for (const [id, scope] of [
      ["a1", acme],
      ["g1", globex],
    ] as const)
      await create(id, scope);
    await a.addTick(acme, "a1", LEASE, (cron, at) => manualTick(cron, at, "first"));
    now += 1_000;
    await a.addTick(acme, "a1", LEASE, (cron, at) => manualTick(cron, at, "second"));
    await a.addTick(globex, "g1", LEASE, (cron, at) => manualTick(cron, at, "other"));
    await database.pool.query(
      `update throughline.cron_ticks set outcome = '{"kind":"paused"}' where tick_id = 'second'`,
    );
    expect((await b.find(acme, "a1"))?.lastTick?.id).toBe("first");
    expect((await b.ticks(acme, "a1", { limit: 5 })).map(({ id }) => id)).toEqual(["first"]);
    now += LEASE;
    expect((await b.claimPending(16, LEASE)).map(({ tick }) => tick.id).sort()).toEqual(["first", "other"]);
    expect(told.map(({ table, id }) => [table, id])).toEqual([["cron_ticks", "a1 second"]]);
    expect(await b.untilDue()).toBeGreaterThan(0);
  });

  it("is counted by table and logged with its id by a service, whose other crons start their runs", async () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const metrics = createMetrics();
    const provider = createScriptedProvider();
    const { service } = await openServiceScene({
      store: { kind: "postgres", databaseUrl: migrated.url },
      graphs: provider,
      crons: { now: () => now },
      observer: logEvents({ metrics, logger: createLogger({ level: "info", destination }) }),
    });
    const make = async () =>
      (
        await service.crons.create(
          ann,
          newCronSchema.parse({ agent: "scripted", threadName: "watch", schedule: "every 1 min" }),
        )
      ).cron;
    const [good, bad] = [await make(), await make()];
    await addField(bad.id);
    now = START + MINUTE;
    await service.crons.look();
    (await provider.nextRun()).end();
    const listed = await service.crons.list({ account: ann.billingAccountId }, { limit: 10 });
    expect(listed.crons.map(({ cron }) => cron.id)).toEqual([good.id]);
    expect(await metrics.render()).toMatch(/throughline_bad_rows_total\{table="crons",.*\} 1\n/);
    const line = lines.map((text) => JSON.parse(text)).filter(({ table }) => table === "crons");
    expect(line).toMatchObject([
      { level: 50, id: bad.id, err: { type: "ZodError", message: 'Unrecognized key: "region"' } },
    ]);
    await service.close({ drainMs: 0 });
    metrics.close();
  });

  it("keeps its own ticks from being claimed, and nobody else's", async () => {
    for (const [id, scope] of [
      ["a1", acme],
      ["g1", globex],
    ] as const)
      await create(id, scope);
    await a.addTick(acme, "a1", LEASE, (cron, at) => manualTick(cron, at, "mine"));
    await a.addTick(globex, "g1", LEASE, (cron, at) => manualTick(cron, at, "other"));
    await addField("a1");
    now += LEASE;
    expect((await b.claimPending(16, LEASE)).map(({ tick }) => tick.id)).toEqual(["other"]);
    expect(told.map(({ table, id }) => [table, id])).toEqual([["crons", "a1"]]);
    expect(await b.untilDue()).toBe(LEASE);
  });
});

it("What crons store changes together with its format: raise CRON_FORMAT, then put the new print here", () => {
  const schemas = [cronDefinitionSchema, tickOutcomeSchema].map((schema) =>
    z.toJSONSchema(schema, { io: "input" }),
  );
  const text = JSON.stringify(schemas, (key, value) => (key === "description" ? undefined : value));
  const print = createHash("sha256").update(text).digest("hex").slice(0, 12);
  expect([CRON_FORMAT, print]).toEqual([2, "008cb15ea3a7"]);
});
