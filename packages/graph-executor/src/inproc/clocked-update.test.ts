import { fileURLToPath } from "node:url";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { isStoreOutage } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { BEHAVIOUR_PROJECT } from "../behaviour/executor-behaviour.js";
import { openThread } from "../behaviour/thread-session.js";
import { checkpointTime } from "../checkpoints/run-saver.js";
import { loadProjectGraphs } from "../graphs/project-graphs.js";
import { idAt } from "../persistence/checkpoint-time-fixture.js";
import { createInProcProvider } from "./provider.js";

/** A thread with one turn, as it is when an instance whose clock is this far ahead has written it last. */
async function threadAhead(aheadMs: number, isClockRight = true) {
  const saver = new MemorySaver();
  let isRight = true;
  const provider = createInProcProvider({
    graphs: await loadProjectGraphs(fileURLToPath(BEHAVIOUR_PROJECT)),
    checkpointer: saver,
    isClockRight: () => isRight,
  });
  const session = openThread(provider, "notebook");
  await session.say("first");
  const config = { configurable: { thread_id: session.thread.threadId, checkpoint_ns: "" } };
  const last = await saver.getTuple(config);
  if (!last?.metadata) throw new Error("The turn left no checkpoint.");
  const newest = idAt(Date.now() + aheadMs);
  await saver.put(last.config, { ...last.checkpoint, id: newest }, last.metadata);
  isRight = isClockRight;
  return {
    newest,
    newestId: async () => (await saver.getTuple(config))?.checkpoint.id,
    update: () => provider.updateState(session.thread, { state: { topic: "moon" } }),
  };
}

describe("An update outside of runs", () => {
  it("is written once this instance's clock has passed the one that wrote the thread last", async () => {
    const { update, newest, newestId } = await threadAhead(300);
    const written = await update();
    expect(checkpointTime(written)).toBeGreaterThan(checkpointTime(newest) ?? Number.POSITIVE_INFINITY);
    expect(await newestId()).toBe(written);
  });

  it("is refused as an outage, and writes nothing, while this instance's clock is wrong", async () => {
    const { update, newest, newestId } = await threadAhead(10, false);
    await expect(update()).rejects.toSatisfy(isStoreOutage);
    expect(await newestId()).toBe(newest);
  });
});
