import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  isType,
  readEvents,
  type SseEvent,
  sseEvents,
  typesOf,
} from "../../packages/langgraph-server/src/testing/sse-events.js";
import { talk } from "./graphs/talker.js";
import { type AgentRoutes, agentRoutes, said } from "./rig/agent-routes.js";
import { type RigPostgres, startPostgres } from "./rig/start-postgres.js";
import { type RigServer, startServer } from "./rig/start-server.js";

const STAGE = new URL("./graphs/stage.ts", import.meta.url);
const LINE_1 = { protocolVersion: "1.0" };
/** Slow enough that a test acts in the middle of it. */
const LONG = talk({ words: 10_000, paceMs: 20 });

let postgres: RigPostgres;
let server: RigServer;
let routes: AgentRoutes;
beforeAll(async () => {
  postgres = await startPostgres();
  const databaseUrl = await postgres.createDatabase();
  server = await startServer({ databaseUrl, graphs: STAGE, leaseMs: 2_000, reapEveryMs: 300 });
  routes = agentRoutes(server.url);
});
afterAll(async () => {
  await server.stop();
  await postgres.stop();
});

const asking = (threadId: string, content: string, more: object = {}) => ({
  threadId,
  messages: [said(`m-${threadId}`, content)],
  ...more,
});
const codeOf = (events: readonly SseEvent[]) => events.at(-1)?.data.code;

/** Open questions, by what they ask. */
function questionsOf(events: readonly SseEvent[]): Map<string, string> {
  // A parsed boundary: the stock clients' schemas take it, see stock-clients.e2e.ts.
  const { interrupts = [] } = (events.at(-1)?.data.outcome ?? {}) as {
    interrupts?: { id: string; metadata: { langgraph: { raw: { question: string } } } }[];
  };
  return new Map(interrupts.map(({ id, metadata }) => [metadata.langgraph.raw.question, id]));
}

const answering = (threadId: string, interruptId: string | undefined, payload: unknown) => ({
  threadId,
  ...LINE_1,
  resume: [{ interruptId, status: "resolved", payload }],
});

async function textsOf(agent: string, threadId: string): Promise<unknown[]> {
  const events = await readEvents(await routes.connect(agent, { threadId, ...LINE_1 }));
  const messages = (events.find(isType("MESSAGES_SNAPSHOT"))?.data.messages ?? []) as { content: unknown }[];
  return messages.map(({ content }) => content);
}

/** Reads until a run speaks; its stream goes on behind. */
async function untilSpoken(response: Response): Promise<AsyncGenerator<SseEvent>> {
  const events = sseEvents(response);
  for (let next = await events.next(); !next.done; next = await events.next()) {
    if (next.value.data.type === "TEXT_MESSAGE_CONTENT") return events;
  }
  throw new Error("The run ended without a word.");
}

async function rest(events: AsyncGenerator<SseEvent>): Promise<SseEvent[]> {
  const all: SseEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe("peers' bugs: runs", () => {
  it("7: going on after a question does not announce again the tool call that asked it", async () => {
    const threadId = randomUUID();
    const asked = await readEvents(await routes.run("careful", asking(threadId, "rope", LINE_1)));
    expect(asked.filter(isType("TOOL_CALL_START"))).toHaveLength(1);
    const interruptId = questionsOf(asked).get("Really?");
    const events = await readEvents(await routes.run("careful", answering(threadId, interruptId, "yes")));
    expect(typesOf(events)).not.toContain("TOOL_CALL_START");
    expect(events.filter(isType("TOOL_CALL_RESULT"))).toMatchObject([{ data: { content: "ordered: yes" } }]);
    expect(await textsOf("careful", threadId)).toEqual([
      "rope",
      "Let me order it.",
      "ordered: yes",
      "It is on its way.",
    ]);
  });

  it("8: questions asked side by side can be answered one by one, with a reload between", async () => {
    const threadId = randomUUID();
    const asked = await readEvents(await routes.run("pair", asking(threadId, "go", LINE_1)));
    expect([...questionsOf(asked).keys()].sort()).toEqual(["left?", "right?"]);
    const left = questionsOf(asked).get("left?");
    const first = await readEvents(await routes.run("pair", answering(threadId, left, "L")));
    expect(first.at(-1)?.data.type).toBe("RUN_FINISHED");
    const reloaded = await readEvents(await routes.connect("pair", { threadId, ...LINE_1 }));
    expect([...questionsOf(reloaded).keys()]).toEqual(["right?"]);
    const right = questionsOf(reloaded).get("right?");
    await readEvents(await routes.run("pair", answering(threadId, right, "R")));
    const texts = await textsOf("pair", threadId);
    expect([...texts].sort()).toEqual(["Both were answered.", "go", "left? L.", "right? R."].sort());
    expect(texts.at(-1)).toBe("Both were answered.");
  });

  it("9: a question from a graph within a graph is asked, asked again on connect, and answered", async () => {
    const threadId = randomUUID();
    const asked = await readEvents(await routes.run("nest", asking(threadId, "go", LINE_1)));
    const reloaded = await readEvents(await routes.connect("nest", { threadId, ...LINE_1 }));
    expect(questionsOf(reloaded)).toEqual(questionsOf(asked));
    const interruptId = questionsOf(asked).get("how deep?");
    const events = await readEvents(await routes.run("nest", answering(threadId, interruptId, "very")));
    expect(events.at(-1)?.data.type).toBe("RUN_FINISHED");
    expect(await textsOf("nest", threadId)).toEqual(["go", "One question.", "how deep? very."]);
  });

  it("10: a stop that comes before its run still stops it", async () => {
    const threadId = randomUUID();
    const stopped = await routes.stop("talker", threadId, { runId: "early" });
    expect(await stopped.json()).toMatchObject({ stopped: true });
    const events = await readEvents(await routes.run("talker", asking(threadId, LONG, { runId: "early" })));
    expect(typesOf(events)).not.toContain("TEXT_MESSAGE_CONTENT");
    expect(events.at(-1)?.data.type).toBe("RUN_FINISHED");
    const next = { threadId, messages: [said("next", talk({ words: 1 }))] };
    expect(codeOf(await readEvents(await routes.run("talker", next)))).toBeUndefined();
  });

  it("11: a stop on a stream that was resumed ends the run for everybody", async () => {
    const threadId = randomUUID();
    const starter = sseEvents(await routes.run("talker", asking(threadId, LONG, { runId: "mine" })));
    let cursor: string | undefined;
    for await (const { id, data } of starter) {
      cursor = id ?? cursor;
      if (data.type === "TEXT_MESSAGE_CONTENT") break;
    }
    const other = await untilSpoken(await routes.connect("talker", { threadId }));
    const resumed = await untilSpoken(
      await routes.connect("talker", { threadId }, { "last-event-id": cursor ?? "" }),
    );
    const stopped = await routes.stop("talker", threadId, { runId: "mine" });
    expect(await stopped.json()).toMatchObject({ stopped: true });
    for (const stream of [resumed, other]) {
      expect((await rest(stream)).at(-1)?.data.type).toBe("RUN_FINISHED");
    }
  });

  it("12: busy with a run nobody here has seen says with which, and connecting shows it", async () => {
    const threadId = randomUUID();
    const unseen = await fetch(`${server.url}/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        accountId: "dev",
        runId: "by another service",
        stateKey: threadId,
        graphName: "talker",
        model: "throughline-offline",
        messages: [{ role: "user", content: LONG }],
        requestId: "r",
        traceId: "t",
      }),
    });
    expect(unseen.status).toBe(200);
    const refused = await readEvents(await routes.run("talker", asking(threadId, talk({ words: 1 }))));
    expect(codeOf(refused)).toBe("busy");
    const { metadata } = refused.at(-1)?.data ?? {};
    // A parsed boundary: our own frame.
    const { throughline } = metadata as { throughline: { details: { runId: string } } };
    const watching = await untilSpoken(await routes.connect("talker", { threadId }));
    await routes.stop("talker", threadId, { runId: throughline.details.runId });
    expect((await rest(watching)).at(-1)?.data).toMatchObject({
      type: "RUN_FINISHED",
      metadata: { throughline: { runId: throughline.details.runId } },
    });
    await unseen.body?.cancel();
  });

  it("13: a run whose process was killed is taken up and ends, and the thread is free again", async () => {
    const threadId = randomUUID();
    await untilSpoken(await routes.run("talker", asking(threadId, talk({ words: 100, paceMs: 20 }))));
    await server.kill();
    await server.restart();
    const words = Array.from({ length: 100 }, (_, index) => `${index}:`.padEnd(8, "x")).join(" ");
    await vi.waitFor(async () => expect((await textsOf("talker", threadId)).at(-1)).toBe(words), {
      timeout: 60_000,
      interval: 200,
    });
    const next = { threadId, messages: [said("next", talk({ words: 1 }))] };
    expect(codeOf(await readEvents(await routes.run("talker", next)))).toBeUndefined();
  });

  it("14: a run that was accepted is not lost, killed however soon after", async () => {
    const threadId = randomUUID();
    const accepted = sseEvents(await routes.run("talker", asking(threadId, talk({ words: 3, paceMs: 50 }))));
    expect((await accepted.next()).value?.data.type).toBe("RUN_STARTED");
    await server.kill();
    await server.restart();
    await vi.waitFor(
      async () => expect((await textsOf("talker", threadId)).at(-1)).toBe("0:xxxxxx 1:xxxxxx 2:xxxxxx"),
      { timeout: 60_000, interval: 200 },
    );
    expect(await textsOf("talker", threadId)).toHaveLength(2);
  });
});
