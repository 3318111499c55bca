import { afterEach, describe, expect, it } from "vitest";
import { ofType } from "../testing/frame-recorder.js";
import { openServiceScene, type ServiceScene, startRequest, userMessage } from "../testing/service-scene.js";

describe("A run", () => {
  let scene: ServiceScene;
  afterEach(() => scene.close());

  it("runs to its end with nobody watching, and is all there for who comes later", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("chat");
    const outcome = await scene.service.runs.start(startRequest(thread, "What is 6*7?"));
    expect(outcome.kind).toBe("started");
    await scene.service.runs.close({ drainMs: 5_000 });
    const later = scene.watch(thread, { kind: "nothing" });
    expect(await later.ended).toEqual({ reason: "done", runOpen: false });
    expect(later.types()).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    const snapshot = await later.frame(ofType("MESSAGES_SNAPSHOT"));
    expect(JSON.stringify(snapshot.data.messages)).toContain("42");
    expect(scene.failures).toEqual([]);
  });

  it("is told from its beginning to whoever asked for it", async () => {
    scene = await openServiceScene();
    const run = await scene.run(scene.thread("chat"), "What is 6*7?");
    expect(run.types().at(0)).toBe("RUN_STARTED");
    expect(run.types().at(-1)).toBe("RUN_FINISHED");
    expect(run.types()).toContain("TOOL_CALL_RESULT");
    expect(run.text()).toContain("42");
    expect(scene.failures).toEqual([]);
  });

  it("goes on where the thread is, turn after turn", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("chat");
    await scene.run(thread, "Good morning");
    const second = await scene.run(thread, "Good evening");
    expect(second.text()).toContain("message 2");
    expect(second.text()).toContain("Good morning");
  });

  it.each(["chat", "poet", "ponderer", "travel", "researcher", "sentinel"])(
    "of %s leaves in the log what its checkpoint says",
    async (graphName) => {
      scene = await openServiceScene();
      const thread = scene.thread(graphName);
      if (graphName === "sentinel") {
        await scene.run(thread, { kind: "input", messages: [] }, { command: { name: "hire" } });
      } else await scene.run(thread, "Tell me about tides");
      const checkpoint = await scene.service.state.getState({
        graphId: thread.graphId,
        threadId: thread.ref.threadId,
      });
      const later = scene.watch(thread, { kind: "nothing" });
      await later.ended;
      const snapshot = await later.frame(ofType("MESSAGES_SNAPSHOT"));
      const shown = Array.isArray(snapshot.data.messages) ? snapshot.data.messages : [];
      const ids = shown
        .filter((message: { role: string }) => message.role !== "reasoning")
        .map((message: { id: string }) => message.id);
      // Results of parallel calls stand in the order in which they came.
      expect(ids.sort()).toEqual(checkpoint?.messages?.map((message) => message.id).sort());
      expect(scene.failures).toEqual([]);
    },
  );

  it("asks, waits, and goes on with the answer", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("travel");
    const asking = await scene.run(thread, "Plan a trip");
    const question = await asking.frame((frame) => frame.data.name === "on_interrupt");
    expect(question.data.type).toBe("CUSTOM");
    const pending = await scene.service.runs.start(startRequest(thread, "Something else"));
    expect(pending.kind).toBe("interrupt_pending");
    const answered = await scene.run(thread, { kind: "answer", value: "KLM" });
    expect(answered.types().at(-1)).toBe("RUN_FINISHED");
    const again = await scene.run(thread, { kind: "answer", value: "Hotel Zephyr" });
    expect(again.text()).toContain("Your trip is planned");
    expect(scene.failures).toEqual([]);
  });

  it("takes answers that are sent under the id of the run that asked, as CopilotKit sends them", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("travel");
    await scene.run(thread, "Plan a trip", { clientRunId: "mine" });
    const answered = await scene.run(thread, { kind: "answer", value: "KLM" }, { clientRunId: "mine" });
    expect(answered.types().at(-1)).toBe("RUN_FINISHED");
    const again = await scene.run(thread, { kind: "answer", value: "Hotel Zoe" }, { clientRunId: "mine" });
    expect(again.text()).toContain("Your trip is planned");
    const started = await again.frame(ofType("RUN_STARTED"));
    expect(started.data.runId).toBe("mine");
    const late = await scene.service.runs.start(
      startRequest(thread, { kind: "answer", value: "Hotel Zoe" }, { clientRunId: "mine" }),
    );
    expect(late.kind).toBe("attached");
    expect(scene.failures).toEqual([]);
  });

  it("is the same run when it is sent again", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("chat");
    const request = startRequest(thread, "Good morning", { clientRunId: "mine" });
    const [first, second] = await Promise.all([
      scene.service.runs.start(request),
      scene.service.runs.start(request),
    ]);
    expect([first.kind, second.kind].sort()).toEqual(["attached", "started"]);
    const third = await scene.service.runs.start(request);
    expect(third.kind).toBe("attached");
    if (third.kind !== "attached") return;
    const watching = scene.watch(thread, { kind: "run", runId: third.run.runId });
    await watching.ended;
    expect(watching.types().filter((type) => type === "RUN_STARTED")).toHaveLength(1);
    expect(watching.text()).toContain("Good morning");
    const checkpoint = await scene.service.state.getState({
      graphId: thread.graphId,
      threadId: thread.ref.threadId,
    });
    expect(checkpoint?.messages?.filter((message) => message.role === "user")).toHaveLength(1);
  });

  it("lets its successor in as soon as its end was seen", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("chat");
    for (let turn = 0; turn < 20; turn += 1) await scene.run(thread, `Turn ${turn}`);
    expect(scene.failures).toEqual([]);
  });

  it("keeps another out of its thread, or lets it wait its turn", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("chat");
    const first = await scene.service.runs.start(startRequest(thread, "One"));
    const busy = await scene.service.runs.start(startRequest(thread, "Two"));
    const queued = await scene.service.runs.start(startRequest(thread, "Three", { strategy: "enqueue" }));
    expect([first.kind, busy.kind, queued.kind]).toEqual(["started", "busy", "queued"]);
    if (queued.kind !== "queued") return;
    const watching = scene.watch(thread, { kind: "run", runId: queued.run.runId });
    expect(await watching.ended).toEqual({ reason: "done", runOpen: false });
    expect(watching.types().filter((type) => type === "RUN_STARTED")).toHaveLength(1);
    expect(watching.text()).toContain("Three");
    expect(watching.text()).toContain("message 2");
  });

  it("refuses a changed text under an id the thread holds, and sends only what is new", async () => {
    scene = await openServiceScene();
    const thread = scene.thread("chat");
    const hello = userMessage("Hello", "m1");
    await scene.run(thread, { kind: "input", messages: [hello] });
    await expect(
      scene.service.runs.start(
        startRequest(thread, { kind: "input", messages: [userMessage("Goodbye", "m1")] }),
      ),
    ).rejects.toMatchObject({ code: "invalid_input", details: { field: "messages.0" } });
    await scene.run(thread, { kind: "input", messages: [hello, userMessage("And now?", "m2")] });
    const checkpoint = await scene.service.state.getState({
      graphId: thread.graphId,
      threadId: thread.ref.threadId,
    });
    const said = checkpoint?.messages?.filter((message) => message.role === "user");
    expect(said?.map((message) => message.id)).toEqual(["m1", "m2"]);
  });

  it("of an agent that does not exist is not found", async () => {
    scene = await openServiceScene();
    await expect(
      scene.service.runs.start(startRequest(scene.thread("nobody"), "Hello")),
    ).rejects.toMatchObject({ code: "not_found" });
  });
});
