import { ThroughlineError } from "@throughline/ai-core";
import { createMemoryCheckpointer } from "@throughline/graph-executor";
import { createMemoryDatabase } from "@throughline/thread-log";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Service, ServiceOptions } from "../server/create-service.js";
import { createScriptedProvider, type ScriptedProvider } from "../testing/scripted-provider.js";

import { ann, openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";
import { threadAddress } from "../threads/thread-address.js";
import { newCronSchema } from "./cron-definition.js";

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const scope = { account: ann.billingAccountId };

describe("A cron", () => {
  let scene: ServiceScene;
  let service: Service;
  let provider: ScriptedProvider;
  let now = START;

  async function open(more: Partial<ServiceOptions> = {}): Promise<void> {
    scene = await openServiceScene({ graphs: provider, crons: { now: () => now }, ...more });
    service = scene.service;
  }
  beforeEach(async () => {
    now = START;
    provider = createScriptedProvider();
    await open();
  });
  afterEach(() => scene.service.close({ drainMs: 0 }));

  const create = async (more: object = {}) => {
    const sent = { agent: "scripted", threadName: "watch", schedule: "every 1 min", ...more };
    return (await service.crons.create(ann, newCronSchema.parse(sent))).cron;
  };
  const tickAt = async (at: number) => {
    now = at;
    await service.crons.look();
  };
  const outcomes = async (id: string) =>
    (await service.crons.ticks(scope, id, { limit: 100 })).ticks.map(({ outcome }) => outcome);
  const finishRun = async () => {
    const run = await provider.nextRun();
    run.end();
    return run;
  };
  const untilIdle = (threadName: string) =>
    vi.waitFor(async () => {
      expect(await service.runs.active(threadAddress(ann, "scripted", threadName))).toBeUndefined();
    });

  it("starts an ordinary run that anybody can watch, marked with what started it", async () => {
    const cron = await create({ input: { message: "Look around" }, model: "model-1" });
    const watching = scene.watch(
      threadAddress(ann, "scripted", "watch"),
      { kind: "nothing" },
      { follow: true },
    );
    await tickAt(START + MINUTE);
    const run = await provider.nextRun();
    expect(run.request).toMatchObject({
      model: "model-1",
      start: { kind: "input", messages: [{ role: "user", content: "Look around" }] },
    });
    run.say("All quiet.");
    run.end();
    await watching.frame(({ data }) => data.delta === "All quiet.");
    await untilIdle("watch");
    const range = await service.log.read(threadAddress(ann, "scripted", "watch").ref, undefined);
    if (range.kind !== "entries") throw new Error(`The log gave ${range.kind}.`);
    const start = range.entries.find(({ envelope }) => envelope.run_id === run.request.runId);
    expect(start?.envelope.payload).toMatchObject({ started_by: { kind: "cron", id: cron.id } });
    expect(await outcomes(cron.id)).toEqual([{ kind: "started", runId: run.request.runId }]);
    watching.leave();
  });

  it("leaves a tick out while its thread is busy, and takes the next", async () => {
    const cron = await create();
    await tickAt(START + MINUTE);
    const first = await provider.nextRun();
    await tickAt(START + 2 * MINUTE);
    expect((await outcomes(cron.id))[0]).toEqual({
      kind: "skipped",
      reason: "busy",
      runId: first.request.runId,
    });
    first.end();
    await untilIdle("watch");
    await tickAt(START + 3 * MINUTE);
    await finishRun();
    expect((await outcomes(cron.id)).map(({ kind }) => kind)).toEqual(["started", "skipped", "started"]);
  });

  it("lets ticks wait for their turn, where it is told to", async () => {
    const cron = await create({ overlap: "enqueue" });
    await tickAt(START + MINUTE);
    await tickAt(START + 2 * MINUTE);
    await tickAt(START + 3 * MINUTE);
    expect((await outcomes(cron.id)).map(({ kind }) => kind)).toEqual(["started", "started", "started"]);
    const order = [await finishRun(), await finishRun(), await finishRun()].map(
      ({ request }) => request.runId,
    );
    expect((await outcomes(cron.id)).map((outcome) => "runId" in outcome && outcome.runId).reverse()).toEqual(
      order,
    );
  });

  it("gives each tick a thread of its own, where it names none, and still runs one at a time", async () => {
    const cron = await create({ threadName: undefined });
    await tickAt(START + MINUTE);
    const first = await provider.nextRun();
    await tickAt(START + 2 * MINUTE);
    expect((await outcomes(cron.id))[0]).toMatchObject({ kind: "skipped", runId: first.request.runId });
    first.end();
    await vi.waitFor(async () => {
      const { lastTick } = await service.crons.get(scope, cron.id);
      const { ticks } = await service.crons.ticks(scope, cron.id, { limit: 5 });
      expect(lastTick?.outcome.kind).toBe("skipped");
      expect(ticks[1]?.runStatus).toBe("success");
    });
    await tickAt(START + 3 * MINUTE);
    const third = await finishRun();
    expect(third.request.threadId).not.toBe(first.request.threadId);
  });

  it("says that a thread waits for a person, and leaves the tick out", async () => {
    const busy = new ThroughlineError("interrupt_pending", "This thread waits for an answer.");
    const cron = await create();
    const start = vi.spyOn(service.runs, "start").mockRejectedValueOnce(busy);
    await tickAt(START + MINUTE);
    expect(await outcomes(cron.id)).toEqual([{ kind: "skipped", reason: "interrupt_pending" }]);
    start.mockRestore();
  });

  it("tries a tick again when something passing kept it from starting, and runs it once", async () => {
    const cron = await create();
    const start = vi
      .spyOn(service.runs, "start")
      .mockRejectedValueOnce(new Error("connection lost"))
      .mockRejectedValueOnce(new ThroughlineError("rate_limited", "Too many runs."));
    await tickAt(START + MINUTE);
    expect(await outcomes(cron.id)).toEqual([{ kind: "pending" }]);
    await tickAt(START + MINUTE + 1_000);
    await tickAt(START + MINUTE + 1_001);
    await tickAt(START + MINUTE + 3_000);
    const run = await finishRun();
    expect(await outcomes(cron.id)).toEqual([{ kind: "started", runId: run.request.runId }]);
    expect(start).toHaveBeenCalledTimes(3);
    start.mockRestore();
  });

  it("says what is wrong with a tick that can never start, and goes on", async () => {
    const cron = await create();
    const gone = vi
      .spyOn(service.runs, "start")
      .mockRejectedValueOnce(new ThroughlineError("not_found", "There is no such agent."));
    await tickAt(START + MINUTE);
    gone.mockRestore();
    await tickAt(START + 2 * MINUTE);
    await finishRun();
    expect((await outcomes(cron.id)).map(({ kind }) => kind)).toEqual(["started", "failed"]);
  });

  it("whose instance died after the claim is delivered by another, and after the start is not doubled", async () => {
    await service.close({ drainMs: 0 });
    const shared = { database: createMemoryDatabase(), checkpointer: createMemoryCheckpointer() };
    const store = { kind: "memory" as const, shared };
    await open({ store });
    const other = await openServiceScene({ graphs: provider, store, crons: { now: () => now } });
    const claimedOnly = await create({ threadName: "claimed" });
    // It dies on the way to the registry: the tick is not heard of again.
    let letGo = () => {};
    const hanging = new Promise<never>((_, reject) => {
      letGo = () => reject(new Error("The process is gone."));
    });
    const hung = vi.spyOn(service.runs, "start").mockReturnValue(hanging);
    now = START + MINUTE;
    void service.crons.look();
    await vi.waitFor(() => expect(hung).toHaveBeenCalledTimes(1));
    now += 29_000;
    await other.service.crons.look();
    expect(await other.service.registry.list(threadAddress(ann, "scripted", "claimed").ref, 9)).toEqual([]);
    now += 1_000;
    await other.service.crons.look();
    const run = await finishRun();
    hung.mockRestore();
    // It started the run and died before it could say so: the tick is pending, the run is there.
    const { ticks } = await other.service.crons.ticks(scope, claimedOnly.id, { limit: 9 });
    expect(ticks.map(({ outcome }) => outcome)).toEqual([{ kind: "started", runId: run.request.runId }]);
    await other.service.runs.start(
      startRequest(threadAddress(ann, "scripted", "claimed"), "Unrelated", {
        clientRunId: `cron:${claimedOnly.id}:${new Date(START + 2 * MINUTE).toISOString()}`,
      }),
    );
    const early = await provider.nextRun();
    now = START + 2 * MINUTE;
    await other.service.crons.look();
    const [latest] = (await other.service.crons.ticks(scope, claimedOnly.id, { limit: 1 })).ticks;
    expect(latest?.outcome).toEqual({ kind: "started", runId: early.request.runId });
    early.end();
    expect(await other.service.registry.list(threadAddress(ann, "scripted", "claimed").ref, 9)).toHaveLength(
      2,
    );
    letGo();
    await other.close();
  });

  it("that is paused runs nothing but on demand, and goes on with the next time when resumed", async () => {
    const cron = await create();
    expect((await service.crons.change(ann, cron.id, { enabled: false })).cron.nextAt).toBeUndefined();
    await tickAt(START + 10 * MINUTE);
    expect(await outcomes(cron.id)).toEqual([]);
    const asked = await service.crons.runNow(scope, cron.id);
    const run = await finishRun();
    expect(asked.outcome).toEqual({ kind: "started", runId: run.request.runId });
    await untilIdle("watch");
    now = START + 10 * MINUTE + 5_000;
    const resumed = await service.crons.change(ann, cron.id, { enabled: true });
    expect(resumed.cron.nextAt).toBe(START + 11 * MINUTE);
    await tickAt(START + 11 * MINUTE);
    await finishRun();
    expect(await outcomes(cron.id)).toHaveLength(2);
  });

  it("refuses to run now what is busy, and says with what", async () => {
    const cron = await create();
    await tickAt(START + MINUTE);
    const open = await provider.nextRun();
    await expect(service.crons.runNow(scope, cron.id)).rejects.toMatchObject({
      code: "busy",
      details: { runId: open.request.runId, retryAfterMs: expect.any(Number) },
    });
    open.end();
  });

  it("begins another schedule now, keeps its rhythm over other changes, and is paid by who wrote it last", async () => {
    const cron = await create();
    now = START + 30_000;
    const bob = { ...ann, virtualKeyId: "key-2" };
    const renamed = await service.crons.change(bob, cron.id, { input: { message: "Hello" } });
    expect(renamed.cron).toMatchObject({ nextAt: START + MINUTE, virtualKeyId: "key-2", updatedAt: now });
    const slower = await service.crons.change(ann, cron.id, { schedule: "every 2 min" });
    expect(slower.cron).toMatchObject({ nextAt: now + 2 * MINUTE, createdAt: START, virtualKeyId: "key-1" });
  });

  it("catches up once after a downtime, where it is told to, and what became of each tick is told", async () => {
    await service.close({ drainMs: 0 });
    const told: object[] = [];
    await open({ observer: { cronTicked: (tick) => void told.push(tick) } });
    const a = await create({ threadName: "a", schedule: "every 1 h" });
    const b = await create({ threadName: "b", schedule: "every 1 h", missed: "run_once" });
    // To a cron a downtime is that no instance looked.
    await tickAt(START + 3 * 60 * MINUTE + 30 * MINUTE);
    expect((await service.crons.get(scope, a.id)).lastTick).toMatchObject({
      missed: 3,
      outcome: { kind: "missed" },
    });
    expect((await service.crons.get(scope, b.id)).lastTick).toMatchObject({
      missed: 2,
      outcome: { kind: "started" },
    });
    await finishRun();
    expect(told).toEqual([
      { outcome: "missed", missed: 3 },
      { outcome: "started", missed: 2 },
    ]);
  });

  it.each([
    [{ agent: "nobody" }, "agent"],
    [{ schedule: "0 0 30 2 *" }, "schedule"],
    [{ schedule: "whenever" }, "schedule"],
    [{ timeZone: "Nowhere/Land" }, "timeZone"],
    [{ input: { command: { name: "dance" } } }, "input.command.name"],
  ])("is refused with %j, and the field is named", async (more, field) => {
    await expect(create(more)).rejects.toMatchObject({ code: "invalid_input", details: { field } });
    const good = await create();
    await expect(service.crons.change(ann, good.id, more)).rejects.toMatchObject({ details: { field } });
    expect((await service.crons.get(scope, good.id)).cron).toEqual(good);
  });

  it("is one too many when the account has all it may", async () => {
    await service.close({ drainMs: 0 });
    await open({ crons: { now: () => now, maxCrons: 2 } });
    await create();
    await create();
    await expect(create()).rejects.toMatchObject({
      code: "rate_limited",
      details: { limit: "maxCrons", max: 2 },
    });
  });

  it("says when it would run", async () => {
    expect(
      await service.crons.preview({ schedule: "30 2 * * *", timeZone: "Europe/Berlin", count: 2 }),
    ).toEqual([Date.UTC(2026, 0, 1, 1, 30), Date.UTC(2026, 0, 2, 1, 30)]);
  });
});
