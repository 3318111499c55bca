import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  isType,
  readEvents,
  type SseEvent,
  typesOf,
} from "../../packages/langgraph-server/src/testing/sse-events.js";
import { type Follower, followThread, shownMessages } from "./follower.js";
import { said } from "./rig/agent-routes.js";
import { type Instance, setUpstreamStage, type UpstreamStage, upstreamThreadId } from "./upstream-stage.js";

const SOON = { timeout: 30_000, interval: 25 };
const AGENT = "poet";

let stage: UpstreamStage;
let databaseUrl: string;
let a: Instance;
let b: Instance;
const followers: Follower[] = [];

beforeAll(async () => {
  stage = await setUpstreamStage({ paceMs: 50 });
  databaseUrl = await stage.createDatabase();
  [a, b] = await Promise.all([stage.start(databaseUrl), stage.start(databaseUrl)]);
});
afterEach(() => {
  for (const follower of followers.splice(0)) follower.leave();
});
afterAll(() => stage?.stop());

/** A thread that a client of ours opened; by the names that we and the upstream have for it. */
async function openThread(agent = AGENT): Promise<{ name: string; upstreamId: string }> {
  const name = `thread ${randomUUID()}`;
  await readEvents(await a.routes.run(agent, { threadId: name, messages: [said(randomUUID(), "Rain")] }));
  return { name, upstreamId: upstreamThreadId(agent, name) };
}

async function follow(instance: Instance, name: string, agent = AGENT): Promise<Follower> {
  const follower = await followThread(instance.routes, agent, name);
  followers.push(follower);
  await follower.seen(isType("RUN_FINISHED"));
  return follower;
}

const order = (text: string) => ({
  input: { messages: [{ type: "human", id: randomUUID(), content: text }] },
  streamMode: ["messages-tuple", "values", "updates", "tasks"] as ("messages-tuple" | "values")[],
  streamSubgraphs: true,
  streamResumable: true,
});

/** Envelopes of the thread's log. */
async function logOf(name: string, agent = AGENT): Promise<readonly SseEvent[]> {
  return readEvents(await a.routes.events(agent, name));
}
const starts = (log: readonly SseEvent[]) => log.filter(({ event }) => event === "run_start");
const payloadOf = ({ data }: SseEvent) => data.payload as Record<string, unknown>;
const startedBy = (data: SseEvent["data"]) => (data.payload as { started_by: { kind: string } }).started_by;

const isContent = isType("TEXT_MESSAGE_CONTENT");
const isAboutRun = (runId: unknown) => (event: SseEvent) => event.data.runId === runId;
const isEndOf = (runId: unknown) => (event: SseEvent) =>
  isAboutRun(runId)(event) && (isType("RUN_FINISHED")(event) || isType("RUN_ERROR")(event));
/** The first entry of the thread's log, past or to come, that matches. */
async function entry(name: string, agent: string, matches: (entry: SseEvent) => boolean): Promise<SseEvent> {
  const events = await readEvents(await b.routes.events(agent, name, "?follow=true"), matches);
  return events.at(-1) ?? expect.fail("The log ended.");
}

/** Our id of the run that an outsider started on the thread. */
async function adopted(name: string, agent = AGENT): Promise<unknown> {
  const isForeignStart = ({ event, data }: SseEvent) =>
    event === "run_start" && startedBy(data).kind === "foreign";
  return (await entry(name, agent, isForeignStart)).data.run_id;
}

describe("a run that an outsider starts on a thread of ours", () => {
  it("is seen token by token by a client that only connected, and kept like any other run", async () => {
    const thread = await openThread();
    const follower = await follow(a, thread.name);
    const live = await a.routes.events(AGENT, thread.name, "?follow=true");
    const { run_id } = await stage.outsider.runs.create(thread.upstreamId, AGENT, order("Snow"));
    await follower.seen(isContent);
    expect((await stage.outsider.runs.get(thread.upstreamId, run_id)).status).toBe("running");
    await vi.waitFor(() => expect(typesOf(follower.events).at(-1)).toBe("RUN_FINISHED"), SOON);
    expect(await shownMessages(...follower.connections)).toEqual(await stage.checkpointed(thread.upstreamId));
    expect(follower.events.filter(isContent).length).toBeGreaterThan(4);
    const log = await logOf(thread.name);
    expect(starts(log).map((start) => payloadOf(start).started_by)).toEqual([
      { kind: "client" },
      { kind: "foreign", id: run_id },
    ]);
    const runId = log.at(-1)?.data.run_id;
    const told = await readEvents(live, ({ event, data }) => event === "run_end" && data.run_id === runId);
    const tokens = told.filter(({ event, data }) => event === "llm_token" && data.run_id === runId);
    expect(tokens.at(-1)?.data.origin).toBe("live");
  });

  it("is seen token by token when its starter asked for events in the events dialect alone", async () => {
    const thread = await openThread();
    const follower = await follow(a, thread.name);
    const { run_id } = await stage.outsider.runs.create(thread.upstreamId, AGENT, {
      ...order("Mist"),
      streamMode: ["events"],
    });
    await follower.seen(isContent);
    expect((await stage.outsider.runs.get(thread.upstreamId, run_id)).status).toBe("running");
    await follower.seen(isEndOf(await adopted(thread.name)));
    expect(follower.events.filter(isContent).length).toBeGreaterThan(4);
    expect(await shownMessages(...follower.connections)).toEqual(await stage.checkpointed(thread.upstreamId));
  });

  it("is driven by exactly one of two instances, and seen alike on both", async () => {
    const thread = await openThread();
    const followers = await Promise.all([follow(a, thread.name), follow(b, thread.name)]);
    await stage.outsider.runs.create(thread.upstreamId, AGENT, order("Fog"));
    const runId = await adopted(thread.name);
    await Promise.all(followers.map((follower) => follower.seen(isEndOf(runId))));
    const [onA, onB] = followers.map(({ events }) => events.filter(({ id }) => id !== undefined));
    expect(onA?.map(({ data }) => data)).toEqual(onB?.map(({ data }) => data));
    expect(await shownMessages(...(followers[1]?.connections ?? []))).toEqual(
      await stage.checkpointed(thread.upstreamId),
    );
    expect(starts(await logOf(thread.name))).toHaveLength(2);
  });

  it("is joined in the middle by a client that connects without staying, and shown to its end", async () => {
    const thread = await openThread();
    const heard: string[] = [];
    for await (const { event } of stage.outsider.runs.stream(thread.upstreamId, AGENT, order("Wind"))) {
      heard.push(event);
      if (heard.filter((name) => name.startsWith("messages")).length < 10) continue;
      const events = await readEvents(await b.routes.connect(AGENT, { threadId: thread.name }));
      expect(await shownMessages(events)).toEqual(await stage.checkpointed(thread.upstreamId));
      expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
      break;
    }
    expect(starts(await logOf(thread.name))).toHaveLength(2);
  });

  it("is appended after a run of ours that is open when it comes", async () => {
    const thread = await openThread();
    const follower = await follow(a, thread.name);
    const ours = readEvents(
      await b.routes.run(AGENT, { threadId: thread.name, messages: [said(randomUUID(), "Ice")] }),
    );
    await follower.seen(isContent);
    await stage.outsider.runs.create(thread.upstreamId, AGENT, {
      ...order("Hail"),
      multitaskStrategy: "enqueue",
    });
    expect(typesOf(await ours).at(-1)).toBe("RUN_FINISHED");
    const runId = await adopted(thread.name);
    await follower.seen(isEndOf(runId));
    expect(await shownMessages(...follower.connections)).toEqual(await stage.checkpointed(thread.upstreamId));
    const marks = (await logOf(thread.name)).filter(
      ({ event }) => event === "run_start" || event === "run_end",
    );
    expect(marks.map(({ event }) => event)).toEqual(Array(3).fill(["run_start", "run_end"]).flat());
    expect(marks.map((mark) => payloadOf(mark).started_by).at(-2)).toMatchObject({ kind: "foreign" });
  });

  it("makes the thread busy for a run of ours, and is cancelled upstream when a client of ours stops it", async () => {
    const thread = await openThread("researcher");
    const follower = await follow(a, thread.name, "researcher");
    const { run_id } = await stage.outsider.runs.create(thread.upstreamId, "researcher", order("Thunder"));
    await follower.seen(isType("STEP_STARTED"));
    const refused = await readEvents(
      await a.routes.run("researcher", { threadId: thread.name, messages: [said(randomUUID(), "Me too")] }),
    );
    expect(refused.at(-1)?.data).toMatchObject({ type: "RUN_ERROR", code: "busy" });
    const runId = await adopted(thread.name, "researcher");
    const stopped = await b.routes.stop("researcher", thread.name);
    expect(await stopped.json()).toMatchObject({ stopped: true, runId });
    await follower.seen(isEndOf(runId));
    await vi.waitFor(async () => {
      expect((await stage.outsider.runs.get(thread.upstreamId, run_id)).status).toBe("interrupted");
    }, SOON);
    const end = (await logOf(thread.name, "researcher")).at(-1);
    expect(end).toMatchObject({ event: "run_end", data: { payload: { status: "cancelled" } } });
    const again = await readEvents(
      await a.routes.run("researcher", { threadId: thread.name, messages: [said(randomUUID(), "Sun")] }),
    );
    expect(typesOf(again).at(-1)).toBe("RUN_FINISHED");
  });

  it("is read on by another instance when the one that follows it is killed, and not run again", async () => {
    const thread = await openThread("researcher");
    const dying = await stage.start(databaseUrl);
    const follower = await follow(dying, thread.name, "researcher");
    const { run_id } = await stage.outsider.runs.create(thread.upstreamId, "researcher", order("Storms"));
    // There is no other subscriber yet, so no other can have it.
    await follower.seen(isType("STEP_STARTED"));
    await dying.server.kill();
    await follower.reconnect(b.routes);
    const { data } = await entry(thread.name, "researcher", ({ data }) => data.attempt === 1);
    const runId = data.run_id;
    expect((await stage.outsider.runs.get(thread.upstreamId, run_id)).status).toBe("running");
    await follower.seen(isEndOf(runId));
    expect(await shownMessages(...follower.connections)).toEqual(await stage.checkpointed(thread.upstreamId));
    const log = await logOf(thread.name, "researcher");
    expect(starts(log).map(({ data }) => data.attempt)).toEqual([0, 0, 1]);
    expect(log.filter(({ event }) => event === "run_end")).toHaveLength(2);
    expect(await stage.outsider.runs.list(thread.upstreamId, { limit: 100 })).toHaveLength(2);
  });

  it("is shown message by message when its log belongs to its starter, who misses nothing", async () => {
    const thread = await openThread();
    const follower = await follow(a, thread.name);
    const heard: string[] = [];
    for await (const { event } of stage.outsider.runs.stream(thread.upstreamId, AGENT, {
      ...order("Dew"),
      streamResumable: false,
    })) {
      heard.push(event);
    }
    expect(heard.filter((event) => event.startsWith("messages")).length).toBeGreaterThan(40);
    const runId = await adopted(thread.name);
    await follower.seen(isEndOf(runId));
    expect(await shownMessages(...follower.connections)).toEqual(await stage.checkpointed(thread.upstreamId));
  });

  it("appears as a coarse run to whoever comes after it was over", async () => {
    const thread = await openThread();
    await stage.outsider.runs.wait(thread.upstreamId, AGENT, { input: order("Mist").input });
    const events = await readEvents(await b.routes.connect(AGENT, { threadId: thread.name }));
    expect(await shownMessages(events)).toEqual(await stage.checkpointed(thread.upstreamId));
    const last = starts(await logOf(thread.name)).at(-1);
    expect(last && payloadOf(last)).toMatchObject({ started_by: { kind: "foreign" }, coarse: true });
  });
});

describe("a thread of ours that an outsider changes without a run", () => {
  it("shows the change to those who watch, as a coarse run", async () => {
    const thread = await openThread();
    const follower = await follow(a, thread.name);
    const content = "Hello from outside";
    await stage.outsider.threads.updateState(thread.upstreamId, {
      values: { messages: [{ type: "human", id: "from-outside", content }] },
    });
    await follower.seen(({ data }) => JSON.stringify(data).includes(content));
    await vi.waitFor(async () => {
      const shown = await shownMessages(...follower.connections);
      expect(shown).toEqual(await stage.checkpointed(thread.upstreamId));
    }, SOON);
    const last = starts(await logOf(thread.name)).at(-1);
    expect(last && payloadOf(last)).toMatchObject({ started_by: { kind: "foreign" }, coarse: true });
  });
});

const TRIP = "from Amsterdam to San Francisco";
const questionsIn = (events: readonly SseEvent[]) =>
  events.filter(({ data }) => data.name === "on_interrupt");
const raised = (event: SseEvent) => questionsIn([event]).length > 0;

describe("a question", () => {
  it("that an outsider's run asks is answered by a client of ours", async () => {
    const thread = await askedThread();
    const follower = await follow(a, thread.name, "travel");
    await follower.seen(raised);
    const answer = { threadId: thread.name, messages: [], forwardedProps: { command: { resume: "KLM" } } };
    const events = await readEvents(await b.routes.run("travel", answer));
    expect(questionsIn(events)).toHaveLength(1);
    const { interrupts } = await stage.outsider.threads.get(thread.upstreamId);
    expect(interrupts).not.toEqual(thread.interrupts);
  });

  it("that a run of ours asks is gone for all who watch once an outsider has answered it", async () => {
    const name = `thread ${randomUUID()}`;
    const upstreamId = upstreamThreadId("travel", name);
    const follower = await followThread(a.routes, "travel", name);
    followers.push(follower);
    await readEvents(await a.routes.run("travel", { threadId: name, messages: [said(randomUUID(), TRIP)] }));
    await follower.seen(raised);
    await stage.outsider.runs.create(upstreamId, "travel", {
      ...order(""),
      input: null,
      command: { resume: "KLM" },
    });
    const runId = await adopted(name, "travel");
    await follower.seen(isEndOf(runId));
    expect(questionsIn(follower.events)).toHaveLength(2);
    const events = await readEvents(await b.routes.connect("travel", { threadId: name }));
    expect(questionsIn(events).map(({ data }) => data.value)).toEqual([
      questionsIn(follower.events).at(-1)?.data.value,
    ]);
  });
});

/** A thread of ours in which an outsider's run has asked something. */
async function askedThread() {
  const name = `thread ${randomUUID()}`;
  const upstreamId = upstreamThreadId("travel", name);
  const follower = await followThread(a.routes, "travel", name);
  followers.push(follower);
  await stage.outsider.threads.create({ threadId: upstreamId, graphId: "travel" });
  await stage.outsider.runs.create(upstreamId, "travel", order(TRIP));
  await follower.seen(raised);
  const { interrupts } = await stage.outsider.threads.get(upstreamId);
  return { name, upstreamId, interrupts };
}

describe("a run of ours", () => {
  it("is never taken for an outsider's, however many watch", async () => {
    const thread = await openThread();
    const followers = await Promise.all([follow(a, thread.name), follow(b, thread.name)]);
    for (const text of ["One", "Two"]) {
      await readEvents(
        await a.routes.run(AGENT, { threadId: thread.name, messages: [said(randomUUID(), text)] }),
      );
    }
    await Promise.all(
      followers.map(({ events }) =>
        vi.waitFor(() => expect(events.filter(isType("RUN_FINISHED"))).toHaveLength(3), SOON),
      ),
    );
    expect(starts(await logOf(thread.name)).map((start) => payloadOf(start).started_by)).toEqual(
      Array(3).fill({ kind: "client" }),
    );
  });
});
