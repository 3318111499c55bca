import { systemClock } from "@throughline/ai-core";
import { createInProcProvider, createMemoryCheckpointer } from "@throughline/graph-executor";
import { emptyThreadProjection } from "@throughline/reading";
import { createMemoryDatabase } from "@throughline/thread-log";
import { afterEach, describe, expect, it } from "vitest";
import { silentObserver } from "../operations/observer.js";
import { createLiveThreads } from "../streams/thread-followers.js";
import { catalogGraphs } from "../testing/catalog-graphs.js";
import { ofType } from "../testing/frame-recorder.js";
import { noRebuilder } from "../testing/no-rebuilder.js";
import { openServiceScene, type ServiceScene, userMessage } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";
import { reconcileThread } from "./reconcile-thread.js";

describe("A thread that somebody else changed", () => {
  let scene: ServiceScene;
  afterEach(() => scene.close());

  it("is shown as its checkpoint has it, to who connects and to who follows", async () => {
    const shared = { database: createMemoryDatabase(), checkpointer: createMemoryCheckpointer() };
    scene = await openServiceScene({ store: { kind: "memory", shared } });
    const thread = scene.thread("chat");
    await scene.run(thread, "Hello");
    const outsider = createInProcProvider({
      graphs: catalogGraphs(),
      checkpointer: shared.checkpointer.saver,
    });
    const follower = scene.watch(thread, { kind: "nothing" }, { follow: true });
    await follower.frame(ofType("RUN_FINISHED"));
    await outsider.updateState(
      { graphId: thread.graphId, threadId: thread.ref.threadId },
      { messages: [userMessage("From elsewhere", "elsewhere")], asNode: "agent" },
    );
    const visitors = [1, 2, 3].map(() => scene.watch(thread, { kind: "nothing" }));
    await Promise.all(visitors.map(({ ended }) => ended));
    for (const { frames } of visitors) await expectCheckpoint(scene, thread, frames);
    await expectCheckpoint(scene, thread, follower.frames);
    expect(follower.types().filter((type) => type === "RUN_STARTED")).toHaveLength(2);
    const log = scene.watch(thread, { kind: "nothing" }, { face: { kind: "envelopes" } });
    await log.ended;
    const coarse = log.frames.filter(({ data }) => JSON.stringify(data.payload).includes('"coarse":true'));
    expect(coarse.map(({ event }) => event)).toEqual(["run_start", "run_end"]);
    const again = scene.watch(thread, { kind: "nothing" });
    await again.ended;
    expect(follower.types().filter((type) => type === "RUN_STARTED")).toHaveLength(2);
    const next = await scene.run(thread, "And now?");
    expect(next.types().at(-1)).toBe("RUN_FINISHED");
    follower.leave();
    expect(scene.failures).toEqual([]);
  });

  it("is put back to rest when it turns out to have been deleted, and leaves no trace", async () => {
    const shared = { database: createMemoryDatabase(), checkpointer: createMemoryCheckpointer() };
    scene = await openServiceScene({ store: { kind: "memory", shared } });
    const { log, registry, state, directory } = scene.service;
    const thread = scene.thread("chat");
    const place = { graphId: thread.graphId, threadId: thread.ref.threadId };
    await scene.run(thread, "Hello");
    const seen = await state.getState(place);
    await scene.service.deletions.untilDeleted(
      await scene.service.deletions.deleteThread(thread, "acme"),
      10_000,
    );
    const late = { ...state, getState: async () => looks.shift() };
    const looks = [seen, undefined];
    const views = createLiveThreads({
      log,
      rebuilder: noRebuilder,
      clock: systemClock,
      observer: silentObserver,
    });
    const settled = await reconcileThread(
      {
        log,
        views,
        registry,
        directory,
        state: late,
        clock: systemClock,
        lease: { owner: "late", leaseMs: 60_000 },
      },
      thread,
      emptyThreadProjection,
    );
    expect(settled).toBeUndefined();
    views.close();
    expect(looks).toEqual([]);
    expect(await registry.list(thread.ref, 10)).toEqual([]);
    expect(await directory.find(thread.ref)).toBeUndefined();
    expect((await log.threads({ account: thread.ref.account })).threads).toEqual([]);
  });

  it("keeps its log when its checkpoint could not be found once", async () => {
    scene = await openServiceScene();
    const { log, registry, state, directory } = scene.service;
    const thread = scene.thread("chat");
    await scene.run(thread, "Hello");
    const head = await log.head(thread.ref);
    const seen = await state.getState({ graphId: thread.graphId, threadId: thread.ref.threadId });
    const reads = [seen && { ...seen, checkpointId: "another" }, undefined];
    const missing = { ...state, getState: async () => reads.shift() };
    const views = createLiveThreads({
      log,
      rebuilder: noRebuilder,
      clock: systemClock,
      observer: silentObserver,
    });
    const lease = { owner: "late", leaseMs: 60_000 };
    const deps = { log, views, registry, directory, state: missing, clock: systemClock, lease };
    expect(await reconcileThread(deps, thread, emptyThreadProjection)).toBeUndefined();
    views.close();
    expect(reads).toEqual([]);
    expect(await log.head(thread.ref)).toEqual(head);
    expect(await registry.active(thread.ref)).toBeUndefined();
    await scene.run(thread, "Still there?");
  });
});
