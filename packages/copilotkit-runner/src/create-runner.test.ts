import { randomUUID } from "node:crypto";
import { createSimulatedClock } from "@throughline/ai-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentInput } from "./record-run.js";
import { type RunnerScene, STORES, typesOf, until, view } from "./testing/runner-scene.js";
import { finished, ScriptedAgent, started, text } from "./testing/scripted-agent.js";
import { stockClient, VERSIONS } from "./testing/stock-client.js";

const newThread = () => `thread ${randomUUID()}`;

function inputOf(threadId: string, runId: string, ...said: readonly string[]): AgentInput {
  const messages = said.map((content, index) => ({ id: `${runId}-${index}`, role: "user", content }));
  return { threadId, runId, messages };
}

const END = { type: "TEXT_MESSAGE_END", messageId: "a" };

describe.each(Object.entries(STORES))("a runner over %s", (_, openScene) => {
  let scene: RunnerScene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.close());

  it("tells what the agent emitted as it is, within one start and one end that carry the run's ids", async () => {
    const threadId = newThread();
    const agent = new ScriptedAgent();
    const viewer = view(scene.second.run({ threadId, agent, input: inputOf(threadId, "r", "hello") }));
    const custom = { type: "CUSTOM", name: "note", value: { deep: [1, null] }, metadata: { mine: 1 } };
    await agent.ends(started, ...text("a", "Hi", "!"), END, custom, finished);
    const said = { id: "r-0", role: "user", content: "hello" };
    expect(await viewer.over).toEqual([
      { type: "RUN_STARTED", threadId, runId: "r", input: expect.objectContaining({ messages: [said] }) },
      ...text("a", "Hi", "!"),
      END,
      custom,
      { type: "RUN_FINISHED", threadId, runId: "r" },
    ]);
  });

  it("goes on when its viewer leaves, and another instance shows it, twice the same", async () => {
    const threadId = newThread();
    const [first, second] = [scene.first, scene.second];
    const agent = new ScriptedAgent();
    const leaver = view(first.run({ threadId, agent, input: inputOf(threadId, "r", "hello") }));
    await agent.says(started, ...text("a", "One "));
    await until(leaver, "TEXT_MESSAGE_CONTENT");
    leaver.leave();
    const viewers = [view(second.connect({ threadId })), view(second.connect({ threadId }))];
    for (const viewer of viewers) await until(viewer, "TEXT_MESSAGE_START");
    expect(await second.isRunning(threadId)).toBe(true);
    await agent.ends({ type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "two" }, END, finished);
    const told = await Promise.all(viewers.map(({ over }) => over));
    expect(told[0]).toEqual(told[1]);
    expect(await second.isRunning(threadId)).toBe(false);
    for (const version of VERSIONS) {
      const client = stockClient(version);
      await client.take(told[0] ?? []);
      await client.take(await view(second.connect({ threadId })).over);
      expect(client.shows().messages).toEqual([
        { id: "r-0", role: "user", content: "hello" },
        { id: "a", role: "assistant", content: "One two" },
      ]);
    }
  });

  it("refuses a second run while one is open, with a well-formed error, and keeps the first", async () => {
    const threadId = newThread();
    const agent = new ScriptedAgent();
    const viewer = view(scene.second.run({ threadId, agent, input: inputOf(threadId, "r1") }));
    await agent.says(started);
    const second = new ScriptedAgent();
    const input = inputOf(threadId, "r2");
    const refused = await view(scene.second.run({ threadId, agent: second, input })).over;
    expect(refused).toEqual([
      { type: "RUN_STARTED", threadId, runId: "r2" },
      expect.objectContaining({
        type: "RUN_ERROR",
        code: "busy",
        metadata: { throughline: { threadId, runId: "r2", code: "busy" } },
      }),
    ]);
    await agent.ends(finished);
    expect(typesOf(await viewer.over)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });

  it("stops a run from another instance, closes what is open, and tells it as finished", async () => {
    const threadId = newThread();
    const [first, second] = [scene.first, scene.second];
    const agent = new ScriptedAgent();
    agent.onAbort = (own) => void own.ends({ type: "RUN_ERROR", message: "aborted", code: "abort" });
    const viewer = view(first.run({ threadId, agent, input: inputOf(threadId, "r") }));
    await agent.says(started, { type: "STEP_STARTED", stepName: "s" }, ...text("a", "half"));
    await until(viewer, "TEXT_MESSAGE_CONTENT");
    expect(await second.stop(threadId, "another run")).toBe(false);
    expect(await second.stop(threadId, "r")).toBe(true);
    const told = await viewer.over;
    expect(told.slice(-3)).toEqual([
      END,
      { type: "STEP_FINISHED", stepName: "s" },
      {
        type: "RUN_FINISHED",
        threadId,
        runId: "r",
        metadata: { throughline: { threadId, runId: "r", status: "cancelled" } },
      },
    ]);
    expect(await second.stop(threadId)).toBe(false);
  });

  it("ends a run whose agent ignores the stop", async () => {
    const threadId = newThread();
    const runner = scene.first;
    const agent = new ScriptedAgent();
    const viewer = view(runner.run({ threadId, agent, input: inputOf(threadId, "r") }));
    await agent.says(started);
    await until(viewer, 1);
    expect(await runner.stop(threadId)).toBe(true);
    expect(typesOf(await viewer.over)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(agent.aborts).toBe(1);
  });

  it("tells an agent's failure without its secrets, and a run that has no end as failed", async () => {
    const threadId = newThread();
    const runner = scene.first;
    const failing = new ScriptedAgent();
    const viewer = view(runner.run({ threadId, agent: failing, input: inputOf(threadId, "r1") }));
    await failing.says(started, ...text("a", "half"));
    await failing.fails(new Error("key sk-123 is wrong"));
    const told = await viewer.over;
    expect(told.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "run_failed" });
    expect(JSON.stringify(told)).not.toContain("sk-123");
    const endless = new ScriptedAgent();
    const second = view(runner.run({ threadId, agent: endless, input: inputOf(threadId, "r2") }));
    await endless.ends(started);
    expect((await second.over).at(-1)).toMatchObject({ type: "RUN_ERROR", code: "run_failed" });
  });

  it("shows a failed run to one who connects later as how the thread stands, with the error in metadata", async () => {
    const threadId = newThread();
    const runner = scene.first;
    const agent = new ScriptedAgent();
    const viewer = view(runner.run({ threadId, agent, input: inputOf(threadId, "r", "hello") }));
    await agent.ends(started, { type: "RUN_ERROR", message: "no model", code: "MODEL" });
    expect((await viewer.over).at(-1)).toEqual({ type: "RUN_ERROR", message: "no model", code: "MODEL" });
    const told = await view(runner.connect({ threadId })).over;
    expect(told.at(-1)).toEqual({
      type: "RUN_FINISHED",
      threadId,
      runId: "r",
      metadata: {
        throughline: { lastRun: { status: "error", error: { message: "no model", code: "MODEL" } } },
      },
    });
  });

  it("announces an open question again, in the form it was asked in, until a run answers it", async () => {
    const threadId = newThread();
    const runner = scene.first;
    const agent = new ScriptedAgent();
    const question = { type: "CUSTOM", name: "on_interrupt", value: '{"message":"Which?"}' };
    const outcome = { type: "interrupt", interrupts: [{ id: "i1", reason: "choice" }] };
    const viewer = view(runner.run({ threadId, agent, input: inputOf(threadId, "r1") }));
    await agent.ends(started, question, { ...finished, outcome });
    await viewer.over;
    const asked = await view(runner.connect({ threadId })).over;
    expect(asked.slice(-2)).toEqual([
      question,
      expect.objectContaining({ type: "RUN_FINISHED", runId: "r1", outcome }),
    ]);
    const answering = new ScriptedAgent();
    const answered = view(runner.run({ threadId, agent: answering, input: inputOf(threadId, "r2") }));
    await answering.ends(started, finished);
    await answered.over;
    const after = await view(runner.connect({ threadId })).over;
    expect(typesOf(after)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
  });

  it("goes on behind the cursor that a client sends as Last-Event-ID", async () => {
    const threadId = newThread();
    const runner = scene.instance({ cursors: true });
    const agent = new ScriptedAgent();
    const leaver = view(runner.run({ threadId, agent, input: inputOf(threadId, "r", "hello") }));
    await agent.says(started, ...text("a", "One "));
    await until(leaver, 3);
    leaver.leave();
    const held = leaver.events.map((event) => event);
    const cursor = JSON.stringify(held.at(-1)).match(/"cursor":"([^"]+)"/)?.[1] ?? "";
    const again = view(runner.connect({ threadId, headers: { "X-Last-Event-Id": cursor } }));
    await agent.ends({ type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "two" }, END, finished);
    const told = await again.over;
    expect(typesOf(told)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    const client = stockClient("0.0.59");
    await client.take(held);
    await client.take(told);
    expect(client.shows().messages).toMatchObject([{ content: "hello" }, { content: "One two" }]);
    const last = JSON.stringify(told.at(-1)).match(/"cursor":"([^"]+)"/)?.[1] ?? "";
    expect(await view(runner.connect({ threadId, headers: { "last-event-id": last } })).over).toEqual([]);
    const unknown = await view(runner.connect({ threadId, headers: { "last-event-id": "gone.7" } })).over;
    expect(typesOf(unknown)).toContain("MESSAGES_SNAPSHOT");
  });

  it("takes the same run id for the same run", async () => {
    const threadId = newThread();
    const runner = scene.first;
    const [agent, twin] = [new ScriptedAgent(), new ScriptedAgent()];
    const input = inputOf(threadId, "r", "hello");
    const viewer = view(runner.run({ threadId, agent, input }));
    await agent.says(started);
    await until(viewer, 1);
    const repeated = view(runner.run({ threadId, agent: twin, input }));
    await until(repeated, "MESSAGES_SNAPSHOT");
    await agent.ends(finished);
    expect((await repeated.over).at(-1)).toEqual({ type: "RUN_FINISHED", threadId, runId: "r" });
  });

  it("takes each answer for a run of its own, though clients send it under the id of the run that asked", async () => {
    const threadId = newThread();
    const runner = scene.first;
    const asking = new ScriptedAgent();
    const asked = view(runner.run({ threadId, agent: asking, input: inputOf(threadId, "r", "hello") }));
    await asking.ends(started, { type: "CUSTOM", name: "on_interrupt", value: "Which?" }, finished);
    await asked.over;
    const forwardedProps = { command: { resume: "this" } };
    const input = { ...inputOf(threadId, "r"), forwardedProps };
    for (const id of ["a", "b"]) {
      const [agent, twin] = [new ScriptedAgent(), new ScriptedAgent()];
      const answered = view(runner.run({ threadId, agent, input }));
      await agent.says(started, ...text(id, "Done"));
      await until(answered, "TEXT_MESSAGE_CONTENT");
      const again = view(runner.run({ threadId, agent: twin, input }));
      await until(again, "TEXT_MESSAGE_START");
      await agent.ends({ ...END, messageId: id }, finished);
      const end = { type: "RUN_FINISHED", threadId, runId: "r" };
      expect([(await answered.over).at(-1), (await again.over).at(-1)]).toEqual([end, end]);
    }
    const client = stockClient("0.0.59");
    await client.take(await view(runner.connect({ threadId })).over);
    expect(client.shows().messages).toMatchObject([{ content: "hello" }, { id: "a" }, { id: "b" }]);
  });

  it("keeps accounts apart, and says nothing of a thread that is not there", async () => {
    const threadId = newThread();
    const agent = new ScriptedAgent();
    const viewer = view(
      scene.instance({ account: "one" }).run({ threadId, agent, input: inputOf(threadId, "r") }),
    );
    await agent.ends(started, finished);
    await viewer.over;
    expect(await view(scene.instance({ account: () => "two" }).connect({ threadId })).over).toEqual([]);
    expect(await view(scene.instance({ account: "one" }).connect({ threadId })).over).toHaveLength(4);
  });

  it("shows a run that was asked for and has not begun in the log yet", async () => {
    const threadId = newThread();
    const runner = scene.first;
    const agent = new ScriptedAgent();
    const viewer = view(runner.run({ threadId, agent, input: inputOf(threadId, "r") }));
    await agent.asked;
    const joined = view(scene.second.connect({ threadId }));
    await agent.ends(started, finished);
    await viewer.over;
    expect((await joined.over).at(-1)).toEqual({ type: "RUN_FINISHED", threadId, runId: "r" });
  });

  it("ends its runs with an error that says so when it is closed", async () => {
    const threadId = newThread();
    const [first, second] = [scene.instance(), scene.second];
    const agent = new ScriptedAgent();
    void first.run({ threadId, agent, input: inputOf(threadId, "r") });
    await agent.asked;
    const viewer = view(second.connect({ threadId }));
    await until(viewer, 1);
    await first.close();
    expect((await viewer.over).at(-1)).toMatchObject({ type: "RUN_ERROR", code: "shutting_down" });
    expect(await second.isRunning(threadId)).toBe(false);
  });
});

describe("a runner whose process is gone", () => {
  it("leaves a run that another instance ends as lost, and the thread takes the next one", async () => {
    const scene = await STORES.memory();
    const threadId = newThread();
    // Its clock stands still, so it sends no heartbeat; leases run out by the store's clock.
    const gone = scene.instance({ clock: createSimulatedClock(Date.now()), leaseMs: 100 });
    const alive = scene.instance({ leaseMs: 150 });
    const agent = new ScriptedAgent();
    void gone.run({ threadId, agent, input: inputOf(threadId, "r1", "hello") });
    await agent.says(started, ...text("a", "half"));
    const viewer = view(alive.connect({ threadId }));
    const told = await viewer.over;
    expect(told.at(-1)).toMatchObject({
      type: "RUN_ERROR",
      code: "run_lost",
      metadata: { throughline: { threadId, runId: "r1" } },
    });
    expect(await alive.isRunning(threadId)).toBe(false);
    // It wakes up, and nothing that it writes is taken.
    await agent.ends(END, finished);
    const next = new ScriptedAgent();
    const second = view(alive.run({ threadId, agent: next, input: inputOf(threadId, "r2", "again") }));
    await next.ends(started, finished);
    expect(typesOf(await second.over)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    const shown = stockClient("1.0.0");
    await shown.take(await view(alive.connect({ threadId })).over);
    expect(shown.shows().messages).toMatchObject([
      { content: "hello" },
      { id: "a", content: "half" },
      { content: "again" },
    ]);
    await scene.close();
  });
});

describe("a runner without its database", () => {
  it("tells so in an event, and tries again with the next call", async () => {
    const scene = await STORES.memory();
    const runner = scene.instance({
      store: { kind: "postgres", databaseUrl: "postgres://localhost:1/none" },
    });
    const told = await view(runner.connect({ threadId: "t" })).over;
    expect(typesOf(told)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    expect(told.at(-1)).toMatchObject({ code: "store_unavailable" });
    const input = inputOf("t", "r");
    const run = await view(runner.run({ threadId: "t", agent: new ScriptedAgent(), input })).over;
    expect(run.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "store_unavailable" });
    await scene.close();
  });

  it("refuses the schema of the service, whose runs it would end", async () => {
    const scene = await STORES.memory();
    const store = {
      kind: "postgres",
      databaseUrl: "postgres://localhost:1/none",
      schema: "throughline",
    } as const;
    const told = await view(scene.instance({ store }).connect({ threadId: "t" })).over;
    expect(told.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "invalid_input" });
    await scene.close();
  });
});
