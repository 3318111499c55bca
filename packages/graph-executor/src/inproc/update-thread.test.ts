import { fileURLToPath } from "node:url";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { StoreOutage } from "@throughline/ai-core";
import { expect, it } from "vitest";
import { BEHAVIOUR_PROJECT } from "../behaviour/executor-behaviour.js";
import { openThread } from "../behaviour/thread-session.js";
import { loadProjectGraphs } from "../graphs/project-graphs.js";
import { createInProcProvider, type InProcProviderOptions } from "./provider.js";

const graphs = await loadProjectGraphs(fileURLToPath(BEHAVIOUR_PROJECT));

async function pausedLetter(options: Partial<InProcProviderOptions> = {}) {
  const saver = new MemorySaver();
  const provider = createInProcProvider({ graphs, checkpointer: saver, ...options });
  const session = openThread(provider, "letter");
  await session.say("Write");
  return { provider, session, saver };
}

it("writes no state while this process's clock is wrong", async () => {
  let isRight = true;
  const { provider, session } = await pausedLetter({ isClockRight: () => isRight });
  const before = await provider.getState(session.thread);
  isRight = false;
  const update = provider.updateState(session.thread, { state: { text: "late" } });
  await expect(update).rejects.toBeInstanceOf(StoreOutage);
  expect(await provider.getState(session.thread)).toEqual(before);
});

it("writes no state without its lease, and names the run that writes where it has one", async () => {
  const assertHeld = async (fence: { readonly token: bigint }) => {
    if (fence.token !== 2n) throw new Error("Another instance drives this run by now.");
  };
  const { provider, session, saver } = await pausedLetter();
  const leased = createInProcProvider({ graphs, checkpointer: saver, lease: { assertHeld } });
  const write = (token: bigint) =>
    leased.updateState(
      session.thread,
      { state: { text: "edited" } },
      { threadId: session.thread.threadId, runId: "edit", token },
    );
  const before = await provider.getState(session.thread);
  await expect(write(1n)).rejects.toMatchObject({ code: "internal" });
  expect(await provider.getState(session.thread)).toEqual(before);
  await write(2n);
  expect(await provider.getState(session.thread)).toMatchObject({ runId: "edit", state: { text: "edited" } });
});

it("keeps the values of a branch that the thread went back from", async () => {
  const { provider, session } = await pausedLetter();
  const paused = await provider.getState(session.thread);
  await provider.updateState(session.thread, { state: { text: "first" } });
  const first = await provider.getState(session.thread);
  await session.run({ kind: "fork", checkpointId: paused?.checkpointId ?? "", messages: [] });
  await provider.updateState(session.thread, { state: { text: "second" } });
  expect((await provider.getState(session.thread))?.state.text).toBe("second");
  expect((await provider.getState(session.thread, first?.checkpointId))?.state.text).toBe("first");
});

it("tells in LangGraph's own words why an update is refused", async () => {
  const { provider, session } = await pausedLetter();
  const refused = provider.updateState(session.thread, { state: { text: "" }, asNode: "nowhere" });
  await expect(refused).rejects.toMatchObject({
    code: "invalid_input",
    message: 'The graph did not accept this update: Node "nowhere" does not exist',
  });
});
