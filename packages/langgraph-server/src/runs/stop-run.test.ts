import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ofType, type RecordedFrame } from "../testing/frame-recorder.js";
import { openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";

const cancelled = { type: "RUN_FINISHED", metadata: { throughline: { status: "cancelled" } } };

describe("A stop", () => {
  let scene: ServiceScene;
  beforeEach(() => void vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "20"));
  afterEach(async () => {
    vi.unstubAllEnvs();
    await scene.close();
  });

  it.each(["by the client's id", "by ours", "by the thread alone"])(
    "in the first milliseconds of a run, %s, ends it as cancelled",
    async (how) => {
      scene = await openServiceScene();
      const thread = scene.thread("poet");
      const outcome = await scene.service.runs.start(
        startRequest(thread, "Write about rain", { clientRunId: "mine" }),
      );
      if (outcome.kind !== "started") throw new Error(outcome.kind);
      const { runId } = outcome.run;
      const name = { "by the client's id": "mine", "by ours": runId }[how];
      expect(await scene.service.runs.stop(thread, name)).toEqual({ kind: "stopping", runId });
      const watching = scene.watch(thread, { kind: "run", runId });
      await watching.ended;
      expect(watching.frames.at(-1)?.data).toMatchObject(cancelled);
      // Its end is in the log a moment before it is in the registry.
      await vi.waitFor(async () =>
        expect(await scene.service.runs.stop(thread, "mine")).toEqual({ kind: "ended", runId }),
      );
      expect(scene.failures).toEqual([]);
    },
  );

  it("mid-token leaves what the checkpoint holds, and the thread goes on", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("poet");
    const follower = scene.watch(thread, { kind: "nothing" }, { follow: true });
    await follower.frame(ofType("RUN_FINISHED"));
    const before = follower.frames.length;
    await scene.service.runs.start(startRequest(thread, "Write about rain"));
    await follower.frame(ofType("TEXT_MESSAGE_CONTENT"));
    await scene.service.runs.stop(thread);
    await follower.frame((frame: RecordedFrame) => JSON.stringify(frame.data).includes('"cancelled"'));
    await expectCheckpoint(scene, thread, follower.frames.slice(before));
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "0");
    const next = await scene.run(thread, "Write about snow");
    expect(next.types().at(-1)).toBe("RUN_FINISHED");
    follower.leave();
  });

  it("that comes before its run cancels it on arrival, and whoever watches is told", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("poet");
    expect(await scene.service.runs.stop(thread, "mine")).toEqual({ kind: "unknown" });
    const outcome = await scene.service.runs.start(startRequest(thread, "Hello", { clientRunId: "mine" }));
    expect(outcome.kind).toBe("cancelled");
    if (outcome.kind !== "cancelled") return;
    const watching = scene.watch(thread, { kind: "run", runId: outcome.run.runId });
    expect(await watching.ended).toEqual({ reason: "done", runOpen: false });
    expect(watching.frames.map(({ data }) => data)).toMatchObject([
      { type: "RUN_STARTED", runId: "mine" },
      { ...cancelled, runId: "mine" },
    ]);
  });

  it("of a run that waits takes it out of the queue", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("poet");
    await scene.service.runs.start(startRequest(thread, "One"));
    const queued = await scene.service.runs.start(
      startRequest(thread, "Two", { strategy: "enqueue", clientRunId: "two" }),
    );
    if (queued.kind !== "queued") throw new Error(queued.kind);
    expect((await scene.service.runs.stop(thread, "two")).kind).toBe("cancelled");
    const watching = scene.watch(thread, { kind: "run", runId: queued.run.runId });
    await watching.ended;
    expect(watching.types()).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    await scene.service.runs.stop(thread);
  });

  it("that makes room lets the newcomer in", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("poet");
    const first = await scene.service.runs.start(startRequest(thread, "One"));
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "0");
    const second = await scene.service.runs.start(startRequest(thread, "Two", { strategy: "preempt" }));
    if (first.kind !== "started" || second.kind !== "queued") throw new Error(second.kind);
    expect(second.preempted).toBe(first.run.runId);
    const watching = scene.watch(thread, { kind: "run", runId: second.run.runId });
    await watching.ended;
    expect(watching.types().at(-1)).toBe("RUN_FINISHED");
    expect(await scene.service.registry.find(thread.ref, { runId: first.run.runId })).toMatchObject({
      status: "cancelled",
    });
  });

  it("of a thread where nothing runs finds it idle", async () => {
    scene = await openServiceScene();
    expect(await scene.service.runs.stop(scene.thread("chat"))).toEqual({ kind: "idle" });
  });
});
