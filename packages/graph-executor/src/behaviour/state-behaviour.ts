import { expect, it } from "vitest";
import type { GraphProvider } from "../provider.js";
import { streamedMessages } from "./streamed.js";
import { openThread, userMessage } from "./thread-session.js";

export function describeState(provider: () => GraphProvider): void {
  it("remembers earlier turns of a thread and sends only the new message", async () => {
    const session = openThread(provider(), "chat");
    await session.say("My name is Ada.");
    const { final } = await session.say("Who are you talking to?");
    expect(final.messages?.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(final.messages?.at(-1)?.content).toContain("My name is Ada.");
  });

  it("keeps the ids of messages it was given", async () => {
    const message = userMessage("Hello");
    const { final } = await openThread(provider(), "chat").run({ kind: "input", messages: [message] });
    expect(final.messages?.[0]).toEqual(message);
  });

  it("applies a client's state by the graph's input schema, and nothing else of it", async () => {
    const { final } = await openThread(provider(), "notebook").run({
      kind: "input",
      messages: [userMessage("kept")],
      state: {
        topic: "sea",
        balance: 1_000,
        unknown: true,
        messages: [{ role: "user", content: "smuggled" }],
      },
    });
    expect(final.state).toEqual({ topic: "sea", notes: ["sea: kept"], balance: 1 });
    expect(final.messages?.map((message) => message.content)).toEqual(["kept"]);
  });

  it("knows nothing of a thread that never ran", async () => {
    const { thread } = openThread(provider(), "notebook");
    expect(await provider().getState(thread)).toBeUndefined();
    expect(await provider().history(thread, { limit: 5 })).toEqual([]);
    expect(await provider().committedMessages(thread, [])).toEqual(new Set());
  });

  it("reads the state a run left, and says which run that was", async () => {
    const session = openThread(provider(), "notebook");
    const { final, runId } = await session.say("sail");
    expect(await provider().getState(session.thread)).toMatchObject({
      checkpointId: final.checkpointId,
      runId,
      state: final.state,
      messages: final.messages,
      next: [],
      interrupts: [],
    });
  });

  it("writes state and messages outside a run, and the next run sees them", async () => {
    const session = openThread(provider(), "notebook");
    await session.say("first");
    const message = userMessage("put there");
    const checkpointId = await provider().updateState(session.thread, {
      state: { topic: "moon" },
      messages: [message],
    });
    const read = await provider().getState(session.thread);
    expect(read).toMatchObject({ checkpointId, state: { topic: "moon" } });
    expect(read?.messages?.at(-1)).toEqual(message);
    const { final } = await session.say("second");
    expect(final.state).toMatchObject({ notes: [": first", "moon: second"] });
  });

  it("sets channels to what they are given, past their reducers, while the graph pauses before a node", async () => {
    const session = openThread(provider(), "letter");
    const paused = await session.say("Write");
    expect(paused.final).toMatchObject({ status: "interrupted", interrupts: [], state: { to: ["ann"] } });
    const state = { text: "Dear both", to: ["bob", "cyd"] };
    const checkpointId = await provider().updateState(session.thread, { state });
    expect(await provider().getState(session.thread)).toMatchObject({ checkpointId, state, next: ["send"] });
    const { final } = await session.answer({});
    expect(final).toMatchObject({ status: "success", state });
    expect(final.messages?.at(-1)?.content).toBe("Dear both to bob, cyd");
  });

  it("changes nothing by an update that the graph refuses", async () => {
    const session = openThread(provider(), "letter");
    await session.say("Write");
    const before = await provider().getState(session.thread);
    const refused = provider().updateState(session.thread, { state: { text: "" }, asNode: "nowhere" });
    await expect(refused).rejects.toMatchObject({ code: "invalid_input", details: { field: "values" } });
    expect(await provider().getState(session.thread)).toEqual(before);
  });

  it("lists checkpoints from the newest, page by page", async () => {
    const session = openThread(provider(), "notebook");
    await session.say("first");
    const { final } = await session.say("second");
    const all = await provider().history(session.thread, { limit: 100 });
    expect(all[0]?.checkpointId).toBe(final.checkpointId);
    expect(all.map((checkpoint) => checkpoint.step)).toEqual([4, 3, 2, 1, 0, -1]);
    expect(all[0]?.parentCheckpointId).toBe(all[1]?.checkpointId);
    const page = await provider().history(session.thread, {
      limit: 2,
      before: all[1]?.checkpointId ?? "",
    });
    expect(page.map((checkpoint) => checkpoint.checkpointId)).toEqual(
      all.slice(2, 4).map((checkpoint) => checkpoint.checkpointId),
    );
  });

  it("runs on from a checkpoint of the past, without what came after it", async () => {
    const session = openThread(provider(), "notebook");
    const past = (await session.say("first")).final;
    await session.say("second");
    const fork = await session.run({
      kind: "fork",
      checkpointId: past.checkpointId ?? "",
      messages: [userMessage("third")],
    });
    expect(fork.final).toMatchObject({ status: "success", state: { notes: [": first", ": third"] } });
    expect((await provider().getState(session.thread))?.state).toEqual(fork.final.state);
    expect((await session.say("fourth")).final.state).toMatchObject({
      notes: [": first", ": third", ": fourth"],
    });
  });

  it("answers again from the checkpoint before an answer", async () => {
    const session = openThread(provider(), "parallel");
    await session.say("Go");
    const history = await provider().history(session.thread, { limit: 100 });
    const before = history.find((checkpoint) => checkpoint.next.includes("join"));
    const again = await session.run({
      kind: "fork",
      checkpointId: before?.checkpointId ?? "",
      messages: [],
    });
    expect(again.final.status).toBe("success");
    expect(streamedMessages(again.chunks)).toHaveLength(1);
    expect(again.final.messages).toHaveLength(6);
  });

  it("refuses to run from a checkpoint that the thread does not have", async () => {
    const session = openThread(provider(), "notebook");
    await session.say("first");
    const { final } = await session.run({
      kind: "fork",
      checkpointId: "1f0c0000-0000-6000-8000-000000000000",
      messages: [],
    });
    expect(final).toMatchObject({ ok: false, status: "error", error: { code: "not_found" } });
  });

  it("holds every message of a run that ended as committed", async () => {
    const session = openThread(provider(), "parallel");
    const { chunks } = await session.say("Go");
    const streamed = streamedMessages(chunks);
    expect(streamed).toHaveLength(5);
    expect(await provider().committedMessages(session.thread, streamed)).toEqual(
      new Set(streamed.map((message) => message.messageId)),
    );
  });

  it("begins a thread where another stood at a checkpoint, and each goes its own way", async () => {
    const session = openThread(provider(), "notebook");
    const past = (await session.say("first")).final;
    await session.say("second");
    const copy = openThread(provider(), "notebook");
    await provider().copyThread(session.thread, past.checkpointId ?? "", copy.thread);
    const read = await provider().getState(copy.thread);
    expect(read).toMatchObject({ state: { notes: [": first"] }, next: [], interrupts: [] });
    expect(read?.messages).toEqual(past.messages);
    expect((await copy.say("third")).final.state).toMatchObject({ notes: [": first", ": third"] });
    expect((await provider().getState(session.thread))?.state).toMatchObject({
      notes: [": first", ": second"],
    });
  });

  it("refuses to begin a thread at a checkpoint that is not there", async () => {
    const session = openThread(provider(), "notebook");
    await session.say("first");
    const copy = openThread(provider(), "notebook");
    const missing = provider().copyThread(
      session.thread,
      "1f0c0000-0000-6000-8000-000000000000",
      copy.thread,
    );
    await expect(missing).rejects.toMatchObject({ code: "not_found" });
    expect(await provider().getState(copy.thread)).toBeUndefined();
  });

  it("forgets a thread, once and again", async () => {
    const session = openThread(provider(), "notebook");
    await session.say("first");
    await provider().deleteThread(session.thread);
    await provider().deleteThread(session.thread);
    expect(await provider().getState(session.thread)).toBeUndefined();
  });

  it("describes its agents under ids that no backend changes", async () => {
    const agents = await provider().listAgents();
    expect(agents.map((agent) => agent.graphId)).toContain("langgraph:chat");
    expect(await provider().getAgent("langgraph:notebook")).toMatchObject({ graphName: "notebook" });
    expect(await provider().getAgent("notebook")).toMatchObject({ graphId: "langgraph:notebook" });
    expect(await provider().getAgent("langgraph:nobody")).toBeUndefined();
  });
}
