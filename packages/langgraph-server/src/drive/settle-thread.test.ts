import { createInProcProvider, createMemoryCheckpointer } from "@throughline/graph-executor";
import { createMemoryDatabase } from "@throughline/thread-log";
import { afterEach, describe, expect, it } from "vitest";
import { openServiceScene, type ServiceScene, userMessage } from "../testing/service-scene.js";
import { expectCheckpoint } from "../testing/shown-thread.js";
import { ofType } from "../testing/watch-recorder.js";
import { catalogGraphs } from "./catalog-graphs.js";

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
    const again = scene.watch(thread, { kind: "nothing" });
    await again.ended;
    expect(follower.types().filter((type) => type === "RUN_STARTED")).toHaveLength(2);
    const next = await scene.run(thread, "And now?");
    expect(next.types().at(-1)).toBe("RUN_FINISHED");
    follower.leave();
    expect(scene.failures).toEqual([]);
  });
});
