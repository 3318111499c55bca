import { createSimulatedClock } from "@throughline/ai-core";
import { createMemoryCheckpointer } from "@throughline/graph-executor";
import { createMemoryDatabase } from "@throughline/thread-log";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { devCaller } from "../accounts/callers.js";
import { newCronSchema } from "../crons/cron-definition.js";
import { createHandler } from "../server/create-handler.js";
import type { ServiceOptions, ServiceStore } from "../server/create-service.js";
import { ofType } from "../testing/frame-recorder.js";
import { ann, openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";
import { openTestPostgres, type TestPostgres } from "../testing/test-postgres.js";

/** Far beyond any test: what is claimed in it was told of, not polled. */
const NEVER_MS = 600_000;

describe("Instances with roles of their own, on one PostgreSQL", () => {
  let postgres: TestPostgres;
  let api: ServiceScene;
  let worker: ServiceScene;
  const recovered = vi.fn();

  const open = (options: Partial<ServiceOptions>) =>
    openServiceScene({
      store: { kind: "postgres", databaseUrl: postgres.url },
      reapEveryMs: NEVER_MS,
      observer: { recovered },
      ...options,
    });

  beforeAll(async () => {
    postgres = await openTestPostgres();
    [api, worker] = await Promise.all([
      open({ roles: ["api"] }),
      // Full with one: the next is claimed when that has ended, without a poll.
      open({ roles: ["worker"], maxDriven: 1 }),
    ]);
  });
  afterEach(() => void vi.unstubAllEnvs());
  afterAll(async () => {
    await Promise.all([api.close(), worker.close()]);
    await postgres.close();
  });

  it("run what an api instance accepts on a worker, as its first attempt, and show it live on the api instance", async () => {
    const driving = vi.spyOn(api.service.executor, "runGraph");
    const thread = api.thread("poet");
    const watching = await api.run(thread, "Write about rain");
    expect(watching.types().at(-1)).toBe("RUN_FINISHED");
    await expectCheckpoint(api, thread, watching.frames);
    expect([driving.mock.calls.length, api.service.runs.driving(), recovered.mock.calls]).toEqual([0, 0, []]);
  });

  it("claim at once what was accepted while every worker was full", async () => {
    const threads = Array.from({ length: 4 }, () => api.thread("poet"));
    const ended = await Promise.all(threads.map((thread) => api.run(thread, "Write about rain")));
    expect(ended.map((watching) => watching.types().at(-1))).toEqual(threads.map(() => "RUN_FINISHED"));
  });

  it("stop and preempt from the api instance what a worker drives", async () => {
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "50");
    const thread = api.thread("poet");
    const outcome = await api.service.runs.start(startRequest(thread, "Write about rain"));
    if (outcome.kind !== "started") throw new Error(outcome.kind);
    const watching = api.watch(thread, { kind: "run", runId: outcome.run.runId });
    await watching.frame(ofType("TEXT_MESSAGE_CONTENT"));
    const next = await api.service.runs.start(
      startRequest(thread, "Write about snow", { strategy: "preempt" }),
    );
    if (next.kind !== "queued") throw new Error(next.kind);
    expect(next.preempted).toBe(outcome.run.runId);
    await watching.ended;
    const second = api.watch(thread, { kind: "run", runId: next.run.runId });
    await second.frame(ofType("TEXT_MESSAGE_CONTENT"));
    expect((await api.service.runs.stop(thread)).kind).toBe("stopping");
    await second.ended;
    expect(second.frames.at(-1)?.data).toMatchObject({ metadata: { throughline: { status: "cancelled" } } });
    expect([...api.failures, ...worker.failures]).toEqual([]);
  });
});

describe("An instance without the role", () => {
  const scenes: ServiceScene[] = [];
  const shared = () => ({ database: createMemoryDatabase(), checkpointer: createMemoryCheckpointer() });
  async function open(
    store: ServiceStore,
    options: Partial<ServiceOptions> & Pick<ServiceOptions, "roles">,
  ): Promise<ServiceScene> {
    const scene = await openServiceScene({ store, ...options });
    scenes.push(scene);
    return scene;
  }
  afterEach(async () => void (await Promise.all(scenes.splice(0).map((scene) => scene.close()))));

  it("worker leaves a run that was stopped meanwhile to be cancelled by the first worker there is", async () => {
    const store: ServiceStore = { kind: "memory", shared: shared() };
    const api = await open(store, { roles: ["api"] });
    const thread = api.thread("poet");
    const outcome = await api.service.runs.start(startRequest(thread, "Write about rain"));
    if (outcome.kind !== "started") throw new Error(outcome.kind);
    const watching = api.watch(thread, { kind: "run", runId: outcome.run.runId });
    expect((await api.service.runs.stop(thread)).kind).toBe("stopping");
    await open(store, { roles: ["worker"] });
    await watching.ended;
    expect(watching.frames.at(-1)?.data).toMatchObject({
      metadata: { throughline: { status: "cancelled" } },
    });
  });

  it("worker says so when there is none", async () => {
    const clock = createSimulatedClock(Date.now());
    const noticed = vi.fn();
    const api = await open({ kind: "memory" }, { roles: ["api"], clock, observer: { noticed } });
    for (let run = 0; run < 3; run += 1)
      await api.service.runs.start(startRequest(api.thread("poet"), "Write about rain"));
    clock.advance(9_000);
    expect(noticed).not.toHaveBeenCalled();
    clock.advance(1_000);
    await vi.waitFor(() => expect(noticed).toHaveBeenCalledTimes(1));
  });

  it("cron starts nothing that is due; the one that has it does", async () => {
    const store: ServiceStore = { kind: "memory", shared: shared() };
    let now = Date.UTC(2026, 0, 1);
    const crons = { now: () => now };
    const api = await open(store, { roles: ["api"], crons });
    const { cron } = await api.service.crons.create(
      ann,
      newCronSchema.parse({ agent: "poet", threadName: "dawn", schedule: "every 1 min" }),
    );
    now += 61_000;
    const ticks = async () =>
      (await api.service.crons.ticks({ account: ann.billingAccountId }, cron.id, { limit: 10 })).ticks;
    await api.service.crons.look();
    expect(await ticks()).toEqual([]);
    const clockwork = await open(store, { roles: ["cron"], crons });
    await clockwork.service.crons.look();
    expect(await ticks()).toMatchObject([{ outcome: { kind: "started" }, runStatus: "running" }]);
  });

  it("api answers for its health and nothing else", async () => {
    const worker = await open({ kind: "memory" }, { roles: ["worker"] });
    const handler = createHandler({ service: worker.service, caller: devCaller(), hasApi: false });
    const statusOf = async (path: string) =>
      (await handler.fetch(new Request(`http://127.0.0.1${path}`, { headers: { host: "127.0.0.1" } })))
        .status;
    expect(
      await Promise.all(["/health", "/ready", "/metrics", "/agents", "/openapi.json"].map(statusOf)),
    ).toEqual([200, 200, 200, 404, 404]);
    handler.close();
  });
});
