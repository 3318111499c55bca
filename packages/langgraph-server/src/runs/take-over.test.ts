import { createMemoryCheckpointer } from "@throughline/graph-executor";
import { createMemoryDatabase } from "@throughline/thread-log";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AbandonReason } from "../operations/observer.js";
import type { SharedMemory } from "../server/open-stores.js";
import { ofType } from "../testing/frame-recorder.js";
import { openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";
import type { ThreadAddress } from "../threads/thread-address.js";

/** Two instances on one store. */
describe("A run whose driver is gone", () => {
  let shared: SharedMemory;
  let scenes: ServiceScene[];

  beforeEach(() => {
    shared = { database: createMemoryDatabase(), checkpointer: createMemoryCheckpointer() };
    scenes = [];
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "5");
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await Promise.all(scenes.map((scene) => scene.close()));
  });

  async function instance(options: Parameters<typeof openServiceScene>[0] = {}): Promise<ServiceScene> {
    const scene = await openServiceScene({ store: { kind: "memory", shared }, ...options });
    scenes.push(scene);
    return scene;
  }

  async function startOn(scene: ServiceScene, thread: ThreadAddress, text: string): Promise<string> {
    const outcome = await scene.service.runs.start(startRequest(thread, text));
    if (outcome.kind !== "started") throw new Error(outcome.kind);
    return outcome.run.runId;
  }

  /** As if nothing had been heard of its driver for a lease. */
  function expire(runId: string): void {
    const run = shared.database.runs.get(runId);
    if (run) run.leaseUntil = 0;
  }

  it.each([
    ["before anything was shown", "poet", "Write about rain", () => true],
    ["mid-token", "poet", "Write about rain", ofType("TEXT_MESSAGE_CONTENT")],
    ["mid-thought", "ponderer", "Why is the sky blue?", ofType("REASONING_MESSAGE_CONTENT")],
    ["between a call and its result", "chat", "What is 6*7?", ofType("TOOL_CALL_END")],
    ["after a tool's result", "chat", "First 6*7, then tell me", ofType("TOOL_CALL_RESULT")],
    [
      "inside a subagent",
      "researcher",
      "Research tides",
      (frame) => frame.data.name === "throughline.subagent",
    ],
  ] satisfies [string, string, string, Parameters<ReturnType<ServiceScene["watch"]>["frame"]>[0]][])(
    "%s is taken up by another and ends once, with what its checkpoint holds",
    async (_, graphName, text, isMoment) => {
      const left: AbandonReason[] = [];
      const a = await instance({ observer: { runLeft: ({ why }) => void left.push(why) } });
      const b = await instance();
      const thread = a.thread(graphName);
      const runId = await startOn(a, thread, text);
      const watching = b.watch(thread, { kind: "run", runId });
      await watching.frame(isMoment);
      expire(runId);
      await b.service.runs.reap();
      expect(await watching.ended).toEqual({ reason: "done", runOpen: false });
      expect(watching.types().filter((type) => type === "RUN_FINISHED" || type === "RUN_ERROR")).toEqual([
        "RUN_FINISHED",
      ]);
      await expectCheckpoint(b, thread, watching.frames);
      const later = b.watch(thread, { kind: "nothing" });
      await later.ended;
      await expectCheckpoint(b, thread, later.frames);
      await vi.waitFor(() => expect(left).toEqual(["lost_lease"]));
      expect([...a.failures, ...b.failures]).toEqual([]);
    },
  );

  it("is handed over when an instance closes in the middle of it", async () => {
    const a = await instance();
    const thread = a.thread("poet");
    const runId = await startOn(a, thread, "Write about rain");
    await a.watch(thread, { kind: "run", runId }).frame(ofType("TEXT_MESSAGE_CONTENT"));
    await a.service.close({ drainMs: 0 });
    const b = await instance();
    const watching = b.watch(thread, { kind: "run", runId });
    expect(await watching.ended).toEqual({ reason: "done", runOpen: false });
    await expectCheckpoint(b, thread, watching.frames);
  });

  it("is drained when an instance that closes has the time", async () => {
    const a = await instance();
    const thread = a.thread("poet");
    const runId = await startOn(a, thread, "Write about rain");
    await a.service.close({ drainMs: 10_000 });
    const b = await instance();
    const watching = b.watch(thread, { kind: "run", runId });
    await watching.ended;
    expect(watching.frames.some((frame) => JSON.stringify(frame.data).includes('"attempt":1'))).toBe(false);
    await expectCheckpoint(b, thread, watching.frames);
  });

  it("is lost once it was taken up too often, and says so", async () => {
    const a = await instance();
    const b = await instance({ maxCrashes: 0 });
    const thread = a.thread("poet");
    const runId = await startOn(a, thread, "Write about rain");
    const watching = b.watch(thread, { kind: "run", runId });
    await watching.frame(ofType("TEXT_MESSAGE_CONTENT"));
    expire(runId);
    await b.service.runs.reap();
    await watching.ended;
    expect(watching.frames.at(-1)?.data).toMatchObject({ type: "RUN_ERROR", code: "run_lost" });
    await vi.waitFor(async () =>
      expect(await b.service.registry.find(thread.ref, { runId })).toMatchObject({ status: "lost" }),
    );
  });

  it("and that was to stop, ends as stopped", async () => {
    const a = await instance();
    const b = await instance();
    const thread = a.thread("poet");
    const runId = await startOn(a, thread, "Write about rain");
    const watching = b.watch(thread, { kind: "run", runId });
    await watching.frame(ofType("TEXT_MESSAGE_CONTENT"));
    expire(runId);
    const run = shared.database.runs.get(runId);
    if (run) run.stopRequested = true;
    await b.service.runs.reap();
    await watching.ended;
    expect(watching.frames.at(-1)?.data).toMatchObject({
      type: "RUN_FINISHED",
      metadata: { throughline: { status: "cancelled" } },
    });
    await expectCheckpoint(b, thread, watching.frames);
  });

  it("is only noted as ended when its end was shown already", async () => {
    const a = await instance();
    const thread = a.thread("chat");
    const runId = await startOn(a, thread, "Hello");
    await a.watch(thread, { kind: "run", runId }).ended;
    await a.close();
    const run = shared.database.runs.get(runId);
    if (run) Object.assign(run, { status: "running", owner: "gone", leaseUntil: Number.NEGATIVE_INFINITY });
    const head = shared.database.threads.values().next().value?.head;
    const b = await instance();
    await vi.waitFor(async () =>
      expect(await b.service.registry.find(thread.ref, { runId })).toMatchObject({ status: "success" }),
    );
    expect(shared.database.threads.values().next().value?.head).toBe(head);
  });
});
