import { randomUUID } from "node:crypto";
import { LangGraphAgent } from "@ag-ui/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type AgentStage,
  asking,
  expectNothing,
  NOTHING,
  SLOW,
  shows,
  startAgentStage,
  textIn,
  until,
} from "./rig/agent-stage.js";
import { outlineOf, shownByVersion1, typesOf, watch } from "./viewer.js";

let stage: AgentStage;
beforeAll(async () => {
  stage = await startAgentStage();
}, 300_000);
afterAll(() => stage?.server.stop());

describe("connect() of a thread without an active run", () => {
  test("a finished thread is shown as it is, within one synthetic run", async () => {
    const threadId = await stage.newThread();
    await stage.ended(threadId, await stage.startRun(threadId, { looksUp: true }));
    const view = await watch(stage.agentOn(threadId)).over;
    expect(typesOf(view.events)).toEqual([
      "RUN_STARTED",
      "STATE_SNAPSHOT",
      "MESSAGES_SNAPSHOT",
      "RUN_FINISHED",
    ]);
    expect(view.state).toMatchObject({ told: 5 });
    const [started, finished] = [view.events.at(0), view.events.at(-1)];
    expect(finished).toMatchObject({ threadId, runId: Reflect.get(started ?? {}, "runId") });
    await stage.expectThread(threadId, view);
    await expectNothing(stage.unpatchedOn(threadId));
  });

  test("a thread that the server does not know, or that never ran, is an empty one", async () => {
    for (const threadId of [randomUUID(), await stage.newThread()]) {
      const view = await watch(stage.agentOn(threadId)).over;
      expect(typesOf(view.events)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "RUN_FINISHED"]);
      expect(view).toMatchObject({ messages: [], rejected: undefined });
      await expectNothing(stage.unpatchedOn(threadId));
    }
  });

  test("a thread that waits for an answer asks again, as the agent is configured to ask", async () => {
    const threadId = await stage.newThread();
    await stage.ended(threadId, await stage.startRun(threadId, { asks: true }));
    const legacy = await watch(stage.agentOn(threadId)).over;
    expect(outlineOf(legacy.events).slice(-2)).toEqual(["CUSTOM", "RUN_FINISHED"]);
    expect(legacy.events.at(-2)).toMatchObject({
      name: "on_interrupt",
      value: JSON.stringify({ message: "Shall I go on?", options: ["yes", "no"] }),
    });
    expect(legacy.events.at(-1)).not.toHaveProperty("outcome");
    await stage.expectThread(threadId, legacy);

    const agent = stage.agentOn(threadId, { emitInterruptOutcome: true });
    for (const time of ["first", "again, by the same agent, whose question is still open"]) {
      const view = await watch(agent).over;
      expect(view.rejected, time).toBeUndefined();
      expect(view.events.at(-1), time).toMatchObject({
        outcome: { type: "interrupt", interrupts: [{ message: "Shall I go on?" }] },
      });
    }
    expect(agent.pendingInterrupts).toHaveLength(1);
    await expectNothing(stage.unpatchedOn(threadId));
  });

  test("a thread whose last run failed finishes, with that failure in the metadata", async () => {
    const threadId = await stage.newThread();
    await stage.ended(threadId, await stage.startRun(threadId, { fails: true }));
    const view = await watch(stage.agentOn(threadId)).over;
    expect(outlineOf(view.events)).toEqual([
      "RUN_STARTED",
      "STATE_SNAPSHOT",
      "MESSAGES_SNAPSHOT",
      "RUN_FINISHED",
    ]);
    expect(view.events.at(-1)).toMatchObject({
      metadata: { langgraph: { lastRun: { error: { message: "the well is dry", code: "RUN_FAILED" } } } },
    });
    await stage.expectThread(threadId, view);
    await expectNothing(stage.unpatchedOn(threadId));
  });

  test("what a schedule in the server's own process wrote is shown, though no run did it", async () => {
    const threadId = await stage.newThread();
    const { run_id } = await stage.client.runs.create(threadId, "keeper", { input: {} });
    await stage.ended(threadId, run_id);
    await until(
      () => stage.client.threads.getState<{ ticks: number }>(threadId),
      ({ values }) => values.ticks === 2,
    );
    const view = await watch(stage.agentOn(threadId, { graphId: "keeper" })).over;
    expect(view.state).toMatchObject({ ticks: 2 });
    expect(outlineOf(view.events).at(-1)).toBe("RUN_FINISHED");
    await stage.expectThread(threadId, view);
    await expectNothing(stage.unpatchedOn(threadId, { graphId: "keeper" }));
  });
});

describe("connect() of a thread with an active run", () => {
  test("a running answer is joined where it is, and nothing is said twice", async () => {
    const threadId = await stage.newThread();
    const runId = await stage.startRun(threadId, { ...SLOW, looksUp: true });
    const first = watch(stage.agentOn(threadId));
    await shows(first, "word-9 ");
    const second = watch(stage.agentOn(threadId));
    const views = [await first.over, await second.over];
    for (const view of views) {
      expect(view.events[0]).toMatchObject({ type: "RUN_STARTED", runId });
      expect(view.events.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId });
      await stage.expectThread(threadId, view);
    }
    // The second got the beginning as a snapshot and only the rest as events.
    const prelude = views[1]?.events.find(({ type }) => type === "MESSAGES_SNAPSHOT");
    expect(JSON.stringify(prelude)).toContain("word-9 ");
    expect(textIn(views[1]?.events ?? [])).not.toContain("word-9 ");
    expect(textIn(views[1]?.events ?? [])).toContain("word-119 ");
    await expectNothing(stage.unpatchedOn(threadId));
  });

  test("a viewer who comes back in the middle continues its own message", async () => {
    const threadId = await stage.newThread();
    await stage.startRun(threadId, SLOW);
    const agent = stage.agentOn(threadId);
    const before = watch(agent);
    await shows(before, "word-9 ");
    await agent.detachActiveRun();
    const partial = agent.messages.at(-1)?.content;
    const view = await watch(agent).over;
    expect(String(view.messages.at(-1)?.content)).toContain(String(partial));
    await stage.expectThread(threadId, view);
    await expectNothing(stage.unpatchedOn(threadId));
  });

  test("a pending run is shown from its first event, and keeps its replay log", async () => {
    const threadId = await stage.newThread();
    const runId = await stage.startRun(threadId, { words: 3 }, { afterSeconds: 2 });
    const watching = watch(stage.agentOn(threadId));
    await until(
      () => watching.events.length,
      (length) => length >= 2,
    );
    expect(await stage.client.runs.get(threadId, runId)).toMatchObject({ status: "pending" });
    const view = await watching.over;
    expect(textIn(view.events)).toBe("listen. word-0 word-1 word-2 ");
    await stage.expectThread(threadId, view);
    const replayed: (string | undefined)[] = [];
    for await (const { id } of stage.client.runs.joinStream(threadId, runId, { lastEventId: "-1" }))
      replayed.push(id);
    expect(replayed[0]).toBe("0");
    await expectNothing(stage.unpatchedOn(threadId));
  });

  test("a run that asks, fails or is stopped while it is watched ends as it ended", async () => {
    for (const [script, end] of [
      [{ asks: true }, { type: "RUN_FINISHED" }],
      [{ fails: true }, { type: "RUN_ERROR", message: "the well is dry" }],
    ] as const) {
      const threadId = await stage.newThread();
      await stage.startRun(threadId, { ...script, words: 20, paceMs: 40 });
      const view = await watch(stage.agentOn(threadId)).over;
      expect(JSON.stringify(view.messages)).toContain("word-19 ");
      expect(view.events.at(-1)).toMatchObject(end);
      if ("asks" in script) expect(view.events.at(-2)).toMatchObject({ name: "on_interrupt" });
      await stage.expectThread(threadId, view);
      await expectNothing(stage.unpatchedOn(threadId));
    }
    const threadId = await stage.newThread();
    const runId = await stage.startRun(threadId, SLOW);
    const agent = stage.agentOn(threadId);
    const watching = watch(agent);
    await shows(watching, "word-5 ");
    agent.abortRun();
    const view = await watching.over;
    expect(await stage.client.runs.get(threadId, runId)).toMatchObject({ status: "interrupted" });
    expect(view.events.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId });
    await stage.expectThread(threadId, view);
  });

  test("with lastEventId the events after it are told, and the rest comes as a snapshot", async () => {
    const threadId = await stage.newThread();
    await stage.startRun(threadId, SLOW);
    const agent = stage.agentOn(threadId);
    const before = watch(agent);
    await shows(before, "word-20 ");
    await agent.detachActiveRun();
    // As if the client had lost what came after its 12th word.
    const raws = before.events.filter(({ type }) => type === "RAW");
    const seen = raws[Math.floor(raws.length / 2)];
    const lastEventId = seen?.metadata?.langgraph?.lastEventId;
    expect(lastEventId).toMatch(/^[0-9a-f-]{36}:\d+$/);
    const view = await watch(stage.agentOn(threadId), { forwardedProps: { lastEventId } }).over;
    const text = textIn(view.events);
    const told = String(view.messages.at(-1)?.content);
    expect(text.length).toBeGreaterThan(0);
    expect(text.length).toBeLessThan(told.length);
    expect(told.endsWith(text)).toBe(true);
    expect(text).toContain("word-20 ");
    await stage.expectThread(threadId, view);
    expect(await watch(stage.unpatchedOn(threadId), { forwardedProps: { lastEventId } }).over).toMatchObject(
      NOTHING,
    );
  });

  test("a run that can't be joined is followed by its checkpoints, and its reader loses nothing", async () => {
    const threadId = await stage.newThread();
    const read: (string | undefined)[] = [];
    const stream = stage.client.runs.stream(threadId, "teller", {
      ...asking("Tell me.", { ...SLOW, looksUp: true }),
      streamMode: ["events", "values"],
    });
    const reading = (async () => {
      for await (const { id } of stream) read.push(id);
    })();
    await until(
      () => read.length,
      (length) => length > 10,
    );
    const view = await watch(stage.agentOn(threadId)).over;
    await reading;
    expect(read).toEqual(read.map((_, index) => String(index)));
    expect(textIn(view.events)).toBe("");
    await stage.expectThread(threadId, view);
    await expectNothing(stage.unpatchedOn(threadId));
  });

  test("a client that leaves is gone at once, and the run goes on", async () => {
    const threadId = await stage.newThread();
    const runId = await stage.startRun(threadId, SLOW);
    const open = new Set<object>();
    const counted: typeof fetch = async (input, init) => {
      const token = {};
      const response = await fetch(input, init);
      if (!response.headers.get("content-type")?.includes("event-stream")) return response;
      open.add(token);
      init?.signal?.addEventListener("abort", () => open.delete(token));
      return response;
    };
    const agent = new LangGraphAgent({
      deploymentUrl: stage.server.url,
      graphId: "teller",
      threadId,
      client: new Client({ apiUrl: stage.server.url, callerOptions: { fetch: counted } }),
    });
    const watching = watch(agent);
    await shows(watching, "word-3 ");
    expect(open.size).toBe(1);
    // The published agent opens no stream that could be left.
    await expectNothing(stage.unpatchedOn(threadId));
    await agent.detachActiveRun();
    expect(open.size).toBe(0);
    const shown = watching.events.length;
    expect(await stage.client.runs.get(threadId, runId)).toMatchObject({ status: "running" });
    expect(await stage.ended(threadId, runId)).toMatchObject({ status: "success" });
    expect(watching.events).toHaveLength(shown);
  });
});

describe("connect() that can't show anything", () => {
  test("without a thread id it says which field is missing", async () => {
    const agent = stage.agentOn(randomUUID());
    agent.threadId = "";
    const view = await watch(agent).over;
    expect(view.events).toMatchObject([{ type: "RUN_ERROR", code: "THREAD_ID_MISSING" }]);
    const threadId = await stage.newThread();
    const config = { configurable: { thread_id: threadId } };
    const other = await watch(agent, { forwardedProps: { config } }).over;
    expect(other.events[0]).toMatchObject({ type: "RUN_STARTED", threadId });
    const unpatched = stage.unpatchedOn(randomUUID());
    unpatched.threadId = "";
    await expectNothing(unpatched);
  });

  test("a server that goes away in the middle ends it with a RUN_ERROR", async () => {
    const threadId = await stage.newThread();
    await stage.startRun(threadId, { ...SLOW, words: 400 });
    const watching = watch(stage.agentOn(threadId));
    await shows(watching, "word-3 ");
    const unpatched = stage.unpatchedOn(threadId);
    await stage.server.kill();
    const view = await watching.over;
    expect(view.rejected).toBeUndefined();
    expect(view.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "UPSTREAM_UNAVAILABLE" });
    expect((await shownByVersion1(view.events)).rejected).toBeUndefined();
    await expectNothing(unpatched);
  });
});
