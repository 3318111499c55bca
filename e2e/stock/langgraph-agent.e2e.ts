import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { AbstractAgent, Message } from "@ag-ui/client";
import { LangGraphAgent } from "@ag-ui/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureStock } from "../../scripts/ensure-stock.mjs";
import { startUpstreamServer, type UpstreamServer } from "../executor/upstream-server.js";
import { schemasKnown } from "./schemas-known.js";
import { outlineOf, shownByVersion1, typesOf, type View, type Watching, watch } from "./viewer.js";

const PROJECT = new URL("./graphs/langgraph.json", import.meta.url);
/** Time enough to connect in the middle of the answer, on a busy machine too. */
const SLOW = { words: 120, paceMs: 60 };

let server: UpstreamServer;
let client: Client;
let Unpatched: typeof LangGraphAgent;

beforeAll(async () => {
  const stock = createRequire(join(await ensureStock("ag-ui-langgraph"), "package.json"));
  ({ LangGraphAgent: Unpatched } = stock("@ag-ui/langgraph"));
  server = await startUpstreamServer({ project: PROJECT });
  client = new Client({ apiUrl: server.url });
  for (const graph of ["teller", "keeper"]) await schemasKnown(client, graph);
}, 300_000);

afterAll(() => server.stop());

interface Options {
  readonly graphId?: string;
  readonly emitInterruptOutcome?: boolean;
}

const agentOn = (threadId: string, { graphId = "teller", ...more }: Options = {}): LangGraphAgent =>
  new LangGraphAgent({ deploymentUrl: server.url, graphId, threadId, ...more });

const unpatchedOn = (threadId: string, { graphId = "teller", ...more }: Options = {}): LangGraphAgent =>
  new Unpatched({ deploymentUrl: server.url, graphId, threadId, ...more });

async function newThread(): Promise<string> {
  return (await client.threads.create()).thread_id;
}

const asking = (text: string, script: object) => ({
  input: { messages: [{ type: "human", content: text, id: randomUUID() }], script },
});

/** A run as another program would start it, so that it can be joined. */
async function startRun(threadId: string, script: object, more: object = {}): Promise<string> {
  const { run_id } = await client.runs.create(threadId, "teller", {
    ...asking("Tell me.", script),
    streamMode: ["events", "values", "updates", "messages-tuple"],
    streamResumable: true,
    ...more,
  });
  return run_id;
}

async function until<Value>(
  read: () => Value | Promise<Value>,
  holds: (value: Value) => boolean,
): Promise<Value> {
  for (const deadline = Date.now() + 60_000; ; await pause(20)) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > deadline) throw new Error(`Not within a minute: ${JSON.stringify(value)}`);
  }
}

const ended = (threadId: string, runId: string) =>
  until(
    () => client.runs.get(threadId, runId),
    ({ status }) => status !== "pending" && status !== "running",
  );

/** The thread's own messages, in the words that a client's are compared in. */
async function messagesOf(threadId: string) {
  const { values } = await client.threads.getState<{ messages?: { id: string; content: string }[] }>(
    threadId,
  );
  return (values.messages ?? []).map(({ id, content }) => ({ id, content }));
}

const said = (messages: readonly Message[]) =>
  messages.map(({ id, content }) => ({ id, content: content ?? "" }));

const nothing = { events: [], messages: [], rejected: undefined };

/** Both AG-UI versions take the events, and show the thread as the server has it. */
async function expectThread(threadId: string, view: View): Promise<void> {
  expect(view.rejected).toBeUndefined();
  expect(said(view.messages)).toEqual(await messagesOf(threadId));
  const newer = await shownByVersion1(view.events);
  expect(newer.rejected).toBeUndefined();
  expect(said(newer.messages)).toEqual(said(view.messages));
  expect(newer.state).toEqual(view.state);
}

/** The published agent has no connect(): it ends at once and has shown nothing. */
async function expectNothing(agent: AbstractAgent): Promise<void> {
  expect(await watch(agent).over).toMatchObject(nothing);
}

/** Once a viewer's screen has this text, by a snapshot or by events. */
const shows = ({ agent, events }: Watching, text: string) =>
  until(
    () => JSON.stringify([agent.messages, outlineOf(events), events.at(-1)]),
    (shown) => shown.includes(text),
  );

const textIn = (events: readonly { type: string }[]) =>
  events
    .map((event) => (event.type === "TEXT_MESSAGE_CONTENT" && "delta" in event ? String(event.delta) : ""))
    .join("");

describe("connect() of a thread without an active run", () => {
  test("a finished thread is shown as it is, within one synthetic run", async () => {
    const threadId = await newThread();
    await ended(threadId, await startRun(threadId, { looksUp: true }));
    const view = await watch(agentOn(threadId)).over;
    expect(typesOf(view.events)).toEqual([
      "RUN_STARTED",
      "STATE_SNAPSHOT",
      "MESSAGES_SNAPSHOT",
      "RUN_FINISHED",
    ]);
    expect(view.state).toMatchObject({ told: 5 });
    const [started, finished] = [view.events.at(0), view.events.at(-1)];
    expect(finished).toMatchObject({ threadId, runId: Reflect.get(started ?? {}, "runId") });
    await expectThread(threadId, view);
    await expectNothing(unpatchedOn(threadId));
  });

  test("a thread that the server does not know, or that never ran, is an empty one", async () => {
    for (const threadId of [randomUUID(), await newThread()]) {
      const view = await watch(agentOn(threadId)).over;
      expect(typesOf(view.events)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "RUN_FINISHED"]);
      expect(view).toMatchObject({ messages: [], rejected: undefined });
      await expectNothing(unpatchedOn(threadId));
    }
  });

  test("a thread that waits for an answer asks again, as the agent is configured to ask", async () => {
    const threadId = await newThread();
    await ended(threadId, await startRun(threadId, { asks: true }));
    const legacy = await watch(agentOn(threadId)).over;
    expect(outlineOf(legacy.events).slice(-2)).toEqual(["CUSTOM", "RUN_FINISHED"]);
    expect(legacy.events.at(-2)).toMatchObject({
      name: "on_interrupt",
      value: JSON.stringify({ message: "Shall I go on?", options: ["yes", "no"] }),
    });
    expect(legacy.events.at(-1)).not.toHaveProperty("outcome");
    await expectThread(threadId, legacy);

    const agent = agentOn(threadId, { emitInterruptOutcome: true });
    for (const time of ["first", "again, by the same agent, whose question is still open"]) {
      const view = await watch(agent).over;
      expect(view.rejected, time).toBeUndefined();
      expect(view.events.at(-1), time).toMatchObject({
        outcome: { type: "interrupt", interrupts: [{ message: "Shall I go on?" }] },
      });
    }
    expect(agent.pendingInterrupts).toHaveLength(1);
    await expectNothing(unpatchedOn(threadId));
  });

  test("a thread whose last run failed ends with that failure, after what it had said", async () => {
    const threadId = await newThread();
    await ended(threadId, await startRun(threadId, { fails: true }));
    const view = await watch(agentOn(threadId)).over;
    expect(outlineOf(view.events)).toEqual([
      "RUN_STARTED",
      "STATE_SNAPSHOT",
      "MESSAGES_SNAPSHOT",
      "RUN_ERROR",
    ]);
    expect(view.events.at(-1)).toMatchObject({ message: "the well is dry", code: "RUN_FAILED" });
    await expectThread(threadId, view);
    await expectNothing(unpatchedOn(threadId));
  });

  test("what a schedule in the server's own process wrote is shown, though no run did it", async () => {
    const threadId = await newThread();
    const { run_id } = await client.runs.create(threadId, "keeper", { input: {} });
    await ended(threadId, run_id);
    await until(
      () => client.threads.getState<{ ticks: number }>(threadId),
      ({ values }) => values.ticks === 2,
    );
    const view = await watch(agentOn(threadId, { graphId: "keeper" })).over;
    expect(view.state).toMatchObject({ ticks: 2 });
    expect(outlineOf(view.events).at(-1)).toBe("RUN_FINISHED");
    await expectThread(threadId, view);
    await expectNothing(unpatchedOn(threadId, { graphId: "keeper" }));
  });
});

describe("connect() of a thread with an active run", () => {
  test("a running answer is joined where it is, and nothing is said twice", async () => {
    const threadId = await newThread();
    const runId = await startRun(threadId, { ...SLOW, looksUp: true });
    const first = watch(agentOn(threadId));
    await shows(first, "word-9 ");
    const second = watch(agentOn(threadId));
    const views = [await first.over, await second.over];
    for (const view of views) {
      expect(view.events[0]).toMatchObject({ type: "RUN_STARTED", runId });
      expect(view.events.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId });
      await expectThread(threadId, view);
    }
    // The second got the beginning as a snapshot and only the rest as events.
    const prelude = views[1]?.events.find(({ type }) => type === "MESSAGES_SNAPSHOT");
    expect(JSON.stringify(prelude)).toContain("word-9 ");
    expect(textIn(views[1]?.events ?? [])).not.toContain("word-9 ");
    expect(textIn(views[1]?.events ?? [])).toContain("word-119 ");
    await expectNothing(unpatchedOn(threadId));
  });

  test("a viewer who comes back in the middle continues its own message", async () => {
    const threadId = await newThread();
    await startRun(threadId, SLOW);
    const agent = agentOn(threadId);
    const before = watch(agent);
    await shows(before, "word-9 ");
    await agent.detachActiveRun();
    const partial = agent.messages.at(-1)?.content;
    const view = await watch(agent).over;
    expect(String(view.messages.at(-1)?.content)).toContain(String(partial));
    await expectThread(threadId, view);
    await expectNothing(unpatchedOn(threadId));
  });

  test("a pending run is shown from its first event, and keeps its replay log", async () => {
    const threadId = await newThread();
    const runId = await startRun(threadId, { words: 3 }, { afterSeconds: 2 });
    const watching = watch(agentOn(threadId));
    await until(
      () => watching.events.length,
      (length) => length >= 2,
    );
    expect(await client.runs.get(threadId, runId)).toMatchObject({ status: "pending" });
    const view = await watching.over;
    expect(textIn(view.events)).toBe("listen. word-0 word-1 word-2 ");
    await expectThread(threadId, view);
    const replayed: (string | undefined)[] = [];
    for await (const { id } of client.runs.joinStream(threadId, runId, { lastEventId: "-1" }))
      replayed.push(id);
    expect(replayed[0]).toBe("0");
    await expectNothing(unpatchedOn(threadId));
  });

  test("a run that asks, fails or is stopped while it is watched ends as it ended", async () => {
    for (const [script, end] of [
      [{ asks: true }, { type: "RUN_FINISHED" }],
      [{ fails: true }, { type: "RUN_ERROR", message: "the well is dry" }],
    ] as const) {
      const threadId = await newThread();
      await startRun(threadId, { ...script, words: 20, paceMs: 40 });
      const view = await watch(agentOn(threadId)).over;
      expect(JSON.stringify(view.messages)).toContain("word-19 ");
      expect(view.events.at(-1)).toMatchObject(end);
      if ("asks" in script) expect(view.events.at(-2)).toMatchObject({ name: "on_interrupt" });
      await expectThread(threadId, view);
      await expectNothing(unpatchedOn(threadId));
    }
    const threadId = await newThread();
    const runId = await startRun(threadId, SLOW);
    const agent = agentOn(threadId);
    const watching = watch(agent);
    await shows(watching, "word-5 ");
    agent.abortRun();
    const view = await watching.over;
    expect(await client.runs.get(threadId, runId)).toMatchObject({ status: "interrupted" });
    expect(view.events.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId });
    await expectThread(threadId, view);
  });

  test("with lastEventId the events after it are told, and the rest comes as a snapshot", async () => {
    const threadId = await newThread();
    await startRun(threadId, SLOW);
    const agent = agentOn(threadId);
    const before = watch(agent);
    await shows(before, "word-20 ");
    await agent.detachActiveRun();
    // As if the client had lost what came after its 12th word.
    const raws = before.events.filter(({ type }) => type === "RAW");
    const seen = raws[Math.floor(raws.length / 2)];
    const lastEventId = seen?.metadata?.langgraph?.lastEventId;
    expect(lastEventId).toMatch(/^[0-9a-f-]{36}:\d+$/);
    const view = await watch(agentOn(threadId), { forwardedProps: { lastEventId } }).over;
    const text = textIn(view.events);
    const told = String(view.messages.at(-1)?.content);
    expect(text.length).toBeGreaterThan(0);
    expect(text.length).toBeLessThan(told.length);
    expect(told.endsWith(text)).toBe(true);
    expect(text).toContain("word-20 ");
    await expectThread(threadId, view);
    expect(await watch(unpatchedOn(threadId), { forwardedProps: { lastEventId } }).over).toMatchObject(
      nothing,
    );
  });

  test("a run that can't be joined is followed by its checkpoints, and its reader loses nothing", async () => {
    const threadId = await newThread();
    const read: (string | undefined)[] = [];
    const stream = client.runs.stream(threadId, "teller", {
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
    const view = await watch(agentOn(threadId)).over;
    await reading;
    expect(read).toEqual(read.map((_, index) => String(index)));
    expect(textIn(view.events)).toBe("");
    await expectThread(threadId, view);
    await expectNothing(unpatchedOn(threadId));
  });

  test("a client that leaves is gone at once, and the run goes on", async () => {
    const threadId = await newThread();
    const runId = await startRun(threadId, SLOW);
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
      deploymentUrl: server.url,
      graphId: "teller",
      threadId,
      client: new Client({ apiUrl: server.url, callerOptions: { fetch: counted } }),
    });
    const watching = watch(agent);
    await shows(watching, "word-3 ");
    expect(open.size).toBe(1);
    // The published agent opens no stream that could be left.
    await expectNothing(unpatchedOn(threadId));
    await agent.detachActiveRun();
    expect(open.size).toBe(0);
    const shown = watching.events.length;
    expect(await client.runs.get(threadId, runId)).toMatchObject({ status: "running" });
    expect(await ended(threadId, runId)).toMatchObject({ status: "success" });
    expect(watching.events).toHaveLength(shown);
  });
});

describe("what makes connect() wrong is mended in run() too", () => {
  const messageOf = (content: string) => ({ id: randomUUID(), role: "user" as const, content });

  async function runOn(agent: LangGraphAgent, script: object, during?: (text: string) => void) {
    const events: { type: string; runId?: string; message?: string }[] = [];
    agent.setState({ script });
    agent.addMessage(messageOf("Tell me."));
    const rejected = await agent
      .runAgent(
        {},
        {
          onEvent: ({ event }) => {
            events.push(event);
            during?.(textIn(events));
          },
        },
      )
      .then(
        () => undefined,
        (error: unknown) => String(error),
      );
    return { events, rejected };
  }

  test("a failing run says why, and nothing after it", async () => {
    const [patched, unpatched] = [agentOn(await newThread()), unpatchedOn(await newThread())];
    const { events, rejected } = await runOn(patched, { fails: true });
    expect(rejected).toBeUndefined();
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", message: "the well is dry" });
    expect((await runOn(unpatched, { fails: true })).rejected).toContain("already errored");
  });

  test("a stopped run closes what it had begun, under one run id", async () => {
    const stopAt = (agent: LangGraphAgent) => (text: string) => {
      if (text.endsWith("word-5 ")) agent.abortRun();
    };
    const patched = agentOn(await newThread());
    const { events, rejected } = await runOn(patched, SLOW, stopAt(patched));
    expect(rejected).toBeUndefined();
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId: events[0]?.runId });
    const [run] = await client.runs.list(patched.threadId);
    expect(run).toMatchObject({ status: "interrupted" });

    const unpatched = unpatchedOn(await newThread());
    const stock = await runOn(unpatched, SLOW, stopAt(unpatched));
    const finish = stock.events.findLast(({ type }) => type === "RUN_FINISHED");
    expect(stock.rejected !== undefined || finish?.runId !== stock.events[0]?.runId).toBe(true);
  });

  test("a stop before the server has answered stops the run", async () => {
    const stopAtOnce = async (agent: LangGraphAgent) => {
      agent.setState({ script: SLOW });
      agent.addMessage(messageOf("Tell me."));
      const running = agent.runAgent().catch(() => undefined);
      await until(
        () => agent.activeRun?.graphInfo ?? agent.assistant,
        (known) => known !== undefined,
      );
      agent.abortRun();
      await running;
      const runs = await client.runs.list(agent.threadId);
      return Promise.all(runs.map(({ run_id }) => ended(agent.threadId, run_id)));
    };
    const patched = await stopAtOnce(agentOn(await newThread()));
    expect(patched.map(({ status }) => status).filter((status) => status === "success")).toEqual([]);
    const unpatched = await stopAtOnce(unpatchedOn(await newThread()));
    expect(unpatched).toMatchObject([{ status: "success" }]);
  });
});

describe("connect() that can't show anything", () => {
  test("without a thread id it says which field is missing", async () => {
    const agent = agentOn(randomUUID());
    agent.threadId = "";
    const view = await watch(agent).over;
    expect(view.events).toMatchObject([{ type: "RUN_ERROR", code: "THREAD_ID_MISSING" }]);
    const threadId = await newThread();
    const config = { configurable: { thread_id: threadId } };
    const other = await watch(agent, { forwardedProps: { config } }).over;
    expect(other.events[0]).toMatchObject({ type: "RUN_STARTED", threadId });
    const unpatched = unpatchedOn(randomUUID());
    unpatched.threadId = "";
    await expectNothing(unpatched);
  });

  test("a server that goes away in the middle ends it with a RUN_ERROR", async () => {
    const threadId = await newThread();
    await startRun(threadId, { ...SLOW, words: 400 });
    const watching = watch(agentOn(threadId));
    await shows(watching, "word-3 ");
    const unpatched = unpatchedOn(threadId);
    await server.kill();
    const view = await watching.over;
    expect(view.rejected).toBeUndefined();
    expect(view.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "UPSTREAM_UNAVAILABLE" });
    expect((await shownByVersion1(view.events)).rejected).toBeUndefined();
    await expectNothing(unpatched);
  });
});
