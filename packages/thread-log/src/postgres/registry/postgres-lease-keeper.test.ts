import { setImmediate as turn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Fence } from "@throughline/ai-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { eventually } from "../../conformance/eventually.js";
import { newThread } from "../../conformance/log-scene.js";
import type { LeaseKeeper } from "../../registry/leases.js";
import { openPostgresFixture, type PostgresFixture } from "../../testing/postgres-fixture.js";
import { type StallingProxy, startStallingProxy } from "../../testing/stalling-proxy.js";
import { openPostgres, type PostgresDatabase } from "../database.js";
import { createPostgresLeaseKeeper, type HeartbeatWorkerData } from "./heartbeat.js";

import { createPostgresRunRegistry } from "./run-registry.js";

const LEASE_MS = 2_000;

describe("The PostgreSQL lease keeper", () => {
  let fixture: PostgresFixture;
  let database: PostgresDatabase;
  let proxy: StallingProxy;
  let keeper: LeaseKeeper;
  let workers: Worker[];
  beforeAll(async () => {
    fixture = await openPostgresFixture();
    database = await openPostgres({ connection: fixture.url });
  });
  afterAll(async () => {
    await database?.close();
    await fixture?.close();
  });
  beforeEach(async () => {
    proxy = await startStallingProxy(fixture.url);
    workers = [];
  });
  afterEach(async () => {
    await keeper.close();
    await proxy.stop();
  });

  function openKeeper(url: string, leaseMs = LEASE_MS): LeaseKeeper {
    return createPostgresLeaseKeeper({
      database: { ...database, direct: { connectionString: url } },
      leaseMs,
      everyMs: 250,
      startWorker: (data: HeartbeatWorkerData) => {
        const worker = new Worker(new URL("./heartbeat-worker.mjs", import.meta.url), {
          workerData: data,
          transferList: [data.port],
        });
        workers.push(worker);
        return worker;
      },
    });
  }

  /** A run that would be kept for a minute; its first renewal leaves it the keeper's lease. */
  async function start(runId: string): Promise<Fence> {
    const started = await createPostgresRunRegistry(database).start({
      thread: newThread(),
      stateKey: "chat/main",
      runId,
      graphId: "langgraph:chat",
      origin: { kind: "client" },
      start: { kind: "input", messages: [] },
      request: {},
      strategy: "reject",
      listing: { threadName: "main", derivedTitle: undefined },
      owner: "here",
      leaseMs: 60_000,
    });
    if (started.kind !== "started") throw new Error(started.kind);
    return started.fence;
  }

  function listener() {
    return { lost: vi.fn(), expired: vi.fn(), stop: vi.fn() };
  }

  /** How long the lease lasts, in seconds, by the database's clock. */
  async function leftOf({ runId }: Fence): Promise<number> {
    const { rows } = await database.pool.query<{ left: number }>(
      "select extract(epoch from lease_until - clock_timestamp())::float8 as left from throughline.runs where run_id = $1",
      [runId],
    );
    return rows[0]?.left ?? Number.NaN;
  }

  async function untilRenewed(fence: Fence): Promise<void> {
    await eventually(async () => expect(await leftOf(fence)).toBeLessThan(30));
  }

  /** It only shrinks without a renewal. */
  async function untilRenewedAgain(fence: Fence): Promise<void> {
    let left = await leftOf(fence);
    await eventually(async () => {
      const before = left;
      left = await leftOf(fence);
      expect(left).toBeGreaterThan(before);
    });
  }

  it("R17: keeps the lease of a node that keeps the CPU busy for longer than the lease", async () => {
    const leaseMs = 1_200;
    // The proxy would be as busy as the node.
    keeper = openKeeper(fixture.url, leaseMs);
    const fence = await start("busy");
    const told = listener();
    keeper.keep(fence, told);
    await untilRenewed(fence);
    const busyUntil = performance.now() + 1.2 * leaseMs;
    while (performance.now() < busyUntil);
    expect(await leftOf(fence)).toBeGreaterThan(0);
    await turn();
    expect(told.expired).not.toHaveBeenCalled();
    expect(keeper.healthy()).toEqual({ ok: true });
    await createPostgresRunRegistry(database).finish(fence, { status: "success" });
    await eventually(() => expect(told.lost).toHaveBeenCalledTimes(1));
    expect(told.expired).not.toHaveBeenCalled();
  });

  it("starts its thread again when that dies, and renews what it kept before it is over", async () => {
    keeper = openKeeper(proxy.url, 8_000);
    const fence = await start("orphan");
    const told = listener();
    keeper.keep(fence, told);
    await untilRenewed(fence);
    await workers[0]?.terminate();
    expect(keeper.healthy()).toEqual({ ok: false, reason: "The heartbeat thread is being restarted." });
    await eventually(() => expect(keeper.healthy()).toEqual({ ok: true }));
    expect(workers).toHaveLength(2);
    await untilRenewedAgain(fence);
    expect(told.expired).not.toHaveBeenCalled();
  });

  it("replaces a connection that stalls, and renews before the lease is over", async () => {
    keeper = openKeeper(proxy.url, 4_000);
    const fence = await start("half-open");
    const told = listener();
    keeper.keep(fence, told);
    await untilRenewed(fence);
    proxy.stallOpen();
    await untilRenewedAgain(fence);
    expect(told.expired).not.toHaveBeenCalled();
  });

  it("tells a driver before its lease is over by the database's clock, when nothing answers", async () => {
    keeper = openKeeper(proxy.url);
    const fence = await start("cut off");
    const told = listener();
    const expired = new Promise<number>((resolve) => {
      told.expired.mockImplementation(() => resolve(leftOf(fence)));
    });
    keeper.keep(fence, told);
    await untilRenewed(fence);
    proxy.setDark(true);
    expect(await expired).toBeGreaterThan(0);
    await eventually(() => expect(keeper.healthy()).toMatchObject({ ok: false }));
    expect(told.expired).toHaveBeenCalledTimes(1);
    expect(told.lost).not.toHaveBeenCalled();
    proxy.setDark(false);
    await eventually(() => expect(keeper.healthy()).toEqual({ ok: true }));
  });

  it("tells a driver also when its thread is silent", async () => {
    keeper = createPostgresLeaseKeeper({
      database,
      leaseMs: 200,
      everyMs: 50,
      startWorker: () => new Worker("setInterval(() => {}, 1_000)", { eval: true }),
    });
    const told = listener();
    keeper.keep({ threadId: "t", runId: "r", token: 1n }, told);
    await eventually(() => expect(told.expired).toHaveBeenCalledTimes(1));
    await eventually(() => expect(keeper.healthy()).toMatchObject({ ok: false }));
    expect(told.lost).not.toHaveBeenCalled();
  });

  it("closes although the database is away", async () => {
    keeper = openKeeper(proxy.url);
    proxy.setDark(true);
    await keeper.close();
    expect(workers.map(({ threadId }) => threadId)).toEqual([-1]);
  });
});
