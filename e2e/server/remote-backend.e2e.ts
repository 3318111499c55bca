import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  isType,
  readEvents,
  type SseEvent,
  sseEvents,
  typesOf,
} from "../../packages/langgraph-server/src/testing/sse-events.js";
import { followThread, shownMessages } from "./follower.js";
import { said } from "./rig/agent-routes.js";
import { type Instance, setUpstreamStage, type UpstreamStage, upstreamThreadId } from "./upstream-stage.js";

const SOON = { timeout: 30_000, interval: 25 };
const TRIP = "from Amsterdam to San Francisco";

let stage: UpstreamStage;
let databaseUrl: string;
let a: Instance;
let b: Instance;

beforeAll(async () => {
  stage = await setUpstreamStage({ paceMs: 20 });
  databaseUrl = await stage.createDatabase();
  [a, b] = await Promise.all([stage.start(databaseUrl), stage.start(databaseUrl)]);
});
afterAll(() => stage?.stop());

const newThread = () => `thread ${randomUUID()}`;
const asks = (threadId: string, text: string, more: object = {}) => ({
  threadId,
  messages: [said(randomUUID(), text)],
  ...more,
});
const isContent = isType("TEXT_MESSAGE_CONTENT");
const questionsIn = (events: readonly SseEvent[]) =>
  events.filter(({ data }) => data.name === "on_interrupt");

const checkpointed = (graphName: string, threadName: string) =>
  stage.checkpointed(upstreamThreadId(graphName, threadName));

async function runStarts(agent: string, threadId: string): Promise<readonly Record<string, unknown>[]> {
  const log = await readEvents(await a.routes.events(agent, threadId));
  return log.filter(({ event }) => event === "run_start").map(({ data }) => data);
}

describe("on a langgraph dev server", () => {
  it("a run is streamed, and a later connect shows what it left", async () => {
    const threadId = newThread();
    const run = await readEvents(await a.routes.run("poet", asks(threadId, "Rain")));
    expect(typesOf(run).at(-1)).toBe("RUN_FINISHED");
    expect(run.filter(isContent).length).toBeGreaterThan(4);
    const connected = await readEvents(await b.routes.connect("poet", { threadId }));
    const expected = await checkpointed("poet", threadId);
    expect(expected).toHaveLength(2);
    expect(await shownMessages(run)).toEqual(expected);
    expect(await shownMessages(connected)).toEqual(expected);
  });

  it("a run that is open is joined from another instance, and both see it end", async () => {
    const threadId = newThread();
    const run = await a.routes.run("poet", asks(threadId, "Snow"));
    const events: SseEvent[] = [];
    let joined: Promise<readonly SseEvent[]> | undefined;
    for await (const event of sseEvents(run)) {
      events.push(event);
      if (isContent(event))
        joined ??= b.routes.connect("poet", { threadId }).then((answer) => readEvents(answer));
    }
    const expected = await checkpointed("poet", threadId);
    expect(await shownMessages(events)).toEqual(expected);
    expect(await shownMessages((await joined) ?? [])).toEqual(expected);
  });

  it("a question is asked again on connect, and its answer goes on with the run", async () => {
    const threadId = newThread();
    const asked = await readEvents(await a.routes.run("travel", asks(threadId, TRIP)));
    expect(questionsIn(asked)).toHaveLength(1);
    const again = await readEvents(await b.routes.connect("travel", { threadId }));
    expect(questionsIn(again).map(({ data }) => data.value)).toEqual(
      questionsIn(asked).map(({ data }) => data.value),
    );
    const refused = await readEvents(await b.routes.run("travel", asks(threadId, "Something else")));
    expect(refused.at(-1)?.data).toMatchObject({ type: "RUN_ERROR", code: "interrupt_pending" });
    const answer = { threadId, messages: [], forwardedProps: { command: { resume: "KLM" } } };
    const answered = await readEvents(await b.routes.run("travel", answer));
    expect(typesOf(answered).at(-1)).toBe("RUN_FINISHED");
    expect(questionsIn(answered).map(({ data }) => data.value)).not.toEqual(
      questionsIn(asked).map(({ data }) => data.value),
    );
  });

  it("a stop on another instance cancels the run upstream, and the thread takes the next one", async () => {
    const threadId = newThread();
    const run = await a.routes.run("poet", asks(threadId, "Thunder"));
    const events: SseEvent[] = [];
    for await (const event of sseEvents(run)) {
      events.push(event);
      if (events.filter(isContent).length === 2 && isContent(event)) await b.routes.stop("poet", threadId);
    }
    expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
    const upstreamId = upstreamThreadId("poet", threadId);
    await vi.waitFor(async () => {
      const [only] = await stage.outsider.runs.list(upstreamId);
      expect(only?.status).toBe("interrupted");
    }, SOON);
    const next = await readEvents(await a.routes.run("poet", asks(threadId, "Sun")));
    expect(typesOf(next).at(-1)).toBe("RUN_FINISHED");
    expect((await stage.outsider.threads.get(upstreamId)).status).toBe("idle");
  });

  it("a run whose driver is killed is read on by another instance, and the graph does not run again", async () => {
    const threadId = newThread();
    const dying = await stage.start(databaseUrl);
    const run = await dying.routes.run("researcher", asks(threadId, "Storms"));
    for await (const event of sseEvents(run)) if (isContent(event)) break;
    const follower = await followThread(a.routes, "researcher", threadId);
    await dying.server.kill();
    await follower.seen(isType("RUN_FINISHED"));
    expect(await shownMessages(...follower.connections)).toEqual(await checkpointed("researcher", threadId));
    const began = await runStarts("researcher", threadId);
    expect(began.map(({ attempt }) => attempt)).toEqual([0, 1]);
    expect(await stage.outsider.runs.list(upstreamThreadId("researcher", threadId))).toHaveLength(1);
    const later = await readEvents(await b.routes.connect("researcher", { threadId }));
    expect(await shownMessages(later)).toEqual(await checkpointed("researcher", threadId));
    follower.leave();
  });

  it("a run goes on while the server in front of it is away, and is whole when it comes back", async () => {
    const alone = await stage.start(await stage.createDatabase());
    const threadId = newThread();
    const run = await alone.routes.run("researcher", asks(threadId, "Tides"));
    for await (const event of sseEvents(run)) if (isContent(event)) break;
    await alone.server.kill();
    const upstreamId = upstreamThreadId("researcher", threadId);
    await vi.waitFor(async () => {
      expect((await stage.outsider.threads.get(upstreamId)).status).toBe("idle");
    }, SOON);
    await alone.server.restart();
    const follower = await followThread(alone.routes, "researcher", threadId);
    await follower.seen(isType("RUN_FINISHED"));
    expect(await shownMessages(...follower.connections)).toEqual(await checkpointed("researcher", threadId));
    expect(await stage.outsider.runs.list(upstreamId)).toHaveLength(1);
    follower.leave();
    await alone.server.stop();
  });
});
