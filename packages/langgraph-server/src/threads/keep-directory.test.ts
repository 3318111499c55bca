import { afterEach, describe, expect, it } from "vitest";
import { ofType } from "../testing/frame-recorder.js";
import { openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";

describe("The directory beside the registry", () => {
  let scene: ServiceScene;
  afterEach(() => scene.close());

  it("says that a thread runs while it does, and rests when its end was seen", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("poet");
    const { directory, threads, runs } = scene.service;
    const outcome = await runs.start(startRequest(thread, "Write about rain"));
    if (outcome.kind !== "started") throw new Error(outcome.kind);
    expect(await directory.find(thread.ref)).toMatchObject({
      status: "running",
      title: "Write about rain",
      threadName: thread.threadName,
      lastRunId: outcome.run.runId,
    });
    const watching = scene.watch(thread, { kind: "run", runId: outcome.run.runId });
    await watching.frame(ofType("RUN_FINISHED"));
    await watching.ended;
    await expect.poll(() => threads.get(thread)).toMatchObject({ status: "idle" });
  });

  it("is mended by whoever reads a row whose end was never written", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("chat");
    await scene.run(thread, "Hello");
    const { directory, threads, registry } = scene.service;
    await expect.poll(() => registry.active(thread.ref)).toBeUndefined();
    const before = await threads.get(thread);
    const stale = {
      thread: thread.ref,
      graphId: thread.graphId,
      threadName: thread.threadName,
      runId: before.lastRunId,
      token: before.token,
      derivedTitle: undefined,
    };
    await directory.runStarted(stale);
    const scope = { account: thread.ref.account };
    expect((await threads.list(scope, { limit: 10 })).threads).toMatchObject([{ status: "idle" }]);
    expect(await directory.find(thread.ref)).toMatchObject({ status: "idle" });
  });

  it("costs a run nothing when it can't be written", async () => {
    scene = await openServiceScene();
    const { directory } = scene.service;
    const failing = async () => {
      throw new Error("the database is away");
    };
    Object.assign(directory, { runStarted: failing, runEnded: failing });
    const thread = scene.thread("chat");
    const watching = await scene.run(thread, "Hello");
    expect(watching.frames.at(-1)?.data.type).toBe("RUN_FINISHED");
    await expect.poll(() => scene.failures.length).toBe(2);
  });
});
