import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { readEvents } from "../../packages/langgraph-server/src/testing/sse-events.js";
import { talk } from "./graphs/talker.js";
import { agentRoutes, said } from "./rig/agent-routes.js";
import { type RigPostgres, startPostgres } from "./rig/start-postgres.js";
import { type RigServer, startServer } from "./rig/start-server.js";
import {
  CLIENT_KINDS,
  type ClientKind,
  type Heard,
  type StockClient,
  stockClient,
} from "./stock/stock-client.js";

const STAGE = new URL("./graphs/stage.ts", import.meta.url);
/** Slow enough that a test acts in the middle of it, and always stopped by the test. */
const LONG = talk({ words: 10_000, paceMs: 20 });

let postgres: RigPostgres;
let server: RigServer;
beforeAll(async () => {
  postgres = await startPostgres();
  server = await startServer({ databaseUrl: await postgres.createDatabase(), graphs: STAGE });
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await server.stop();
  await postgres.stop();
});

const newThread = () => randomUUID();
const open = (kind: ClientKind, agent: string, threadId: string, url = server.url) =>
  stockClient(kind, { url, agent, threadId });

const shown = ({ messages, state }: StockClient) => structuredClone({ messages, state });
/** What subagents said beside it is kept for one run. */
const conversation = (client: StockClient) => {
  const { messages, state } = shown(client);
  return { state, messages: messages.filter((message) => !("subagentRunId" in message)) };
};
const codesOf = ({ errors }: Heard) => errors.map(({ code }) => code);

const QUESTIONS = {
  poet: "a line about rivers",
  ponderer: "is it so?",
  chat: "what is 6 * 7?",
  researcher: "tides and the moon",
} as const;

describe.each(CLIENT_KINDS)("%s", (kind) => {
  describe.each(Object.entries(QUESTIONS))("with the agent %s", (agent, question) => {
    const threadId = `${kind} ${agent}`;
    let first: StockClient;
    let reloaded: StockClient;

    it("gets an answer", async () => {
      first = open(kind, agent, threadId);
      first.say(question);
      const heard = await first.run();
      expect(heard.errors).toEqual([]);
      expect(heard.types.at(0)).toBe("RUN_STARTED");
      expect(heard.types.at(-1)).toBe("RUN_FINISHED");
      expect(first.messages.at(0)?.content).toBe(question);
      expect(first.messages.at(-1)).toMatchObject({
        role: "assistant",
        content: expect.stringMatching(/\w/),
      });
    });

    it("holds the same after a reload", async () => {
      reloaded = open(kind, agent, threadId);
      const heard = await reloaded.connect();
      expect(heard.errors).toEqual([]);
      expect(shown(reloaded)).toEqual(shown(first));
    });

    it("holds the same after it connects a second time", async () => {
      const before = shown(reloaded);
      const heard = await reloaded.connect();
      expect(heard.errors).toEqual([]);
      expect(shown(reloaded)).toEqual(before);
    });

    it("goes on with a new message, and a reload shows both turns", async () => {
      const turns = reloaded.messages.length;
      reloaded.say(`${question} again`);
      const heard = await reloaded.run();
      expect(heard.errors).toEqual([]);
      expect(reloaded.messages.slice(0, turns)).toEqual(first.messages);
      expect(reloaded.messages.at(-1)?.role).toBe("assistant");
      expect(reloaded.messages.length).toBeGreaterThanOrEqual(turns + 2);
      const later = open(kind, agent, threadId);
      await later.connect();
      expect(conversation(later)).toEqual(conversation(reloaded));
    });
  });

  it("connects in the middle of a run and holds at its end what its starter holds", async () => {
    const threadId = newThread();
    const starter = open(kind, "talker", threadId);
    starter.say(talk({ words: 60, paceMs: 20 }));
    const begun = starter.heard("TEXT_MESSAGE_CONTENT");
    const running = starter.run();
    await begun;
    const watcher = open(kind, "talker", threadId);
    const heard = await watcher.connect();
    await running;
    expect(heard.errors).toEqual([]);
    expect(heard.types.filter((type) => type === "RUN_FINISHED")).toHaveLength(1);
    expect(shown(watcher)).toEqual(shown(starter));
  });

  it("sees its run end when it is stopped, and goes on afterwards", async () => {
    const threadId = newThread();
    const client = open(kind, "talker", threadId);
    client.say(LONG);
    const begun = client.heard("TEXT_MESSAGE_CONTENT");
    const running = client.run();
    await begun;
    await client.stop();
    const heard = await running;
    expect(heard.errors).toEqual([]);
    expect(heard.types.at(-1)).toBe("RUN_FINISHED");
    client.say(talk({ words: 2 }));
    expect((await client.run()).errors).toEqual([]);
    expect(client.messages.at(-1)).toMatchObject({ content: "0:xxxxxx 1:xxxxxx" });
  });

  it("answers questions until the journey is booked, with a reload before each answer", async () => {
    const threadId = newThread();
    let client = open(kind, "travel", threadId);
    client.say("plan a trip from Amsterdam to San Francisco");
    let heard = await client.run();
    for (const choice of [0, 2]) {
      expect(heard.errors).toEqual([]);
      const before = shown(client);
      client = open(kind, "travel", threadId);
      const connected = await client.connect();
      expect(questionsOf(connected)).toEqual(questionsOf(heard));
      expect(shown(client)).toEqual(before);
      heard = await client.run(answerTo(connected, choice));
    }
    expect(heard.errors).toEqual([]);
    expect(client.state).toMatchObject({
      itinerary: { flight: { airline: "KLM" }, hotel: { name: "Hotel Zoe" } },
    });
    const later = open(kind, "travel", threadId);
    await later.connect();
    expect(shown(later)).toEqual(shown(client));
  });

  describe("is told as RUN_ERROR with a code", () => {
    it("busy, and by which run until when", async () => {
      const threadId = newThread();
      const first = open(kind, "talker", threadId);
      first.say(LONG);
      const begun = first.heard("TEXT_MESSAGE_CONTENT");
      const running = first.run();
      await begun;
      const second = open(kind, "talker", threadId);
      second.say("me too");
      const refused = await second.run();
      expect(codesOf(refused)).toEqual(["busy"]);
      expect(refused.errors[0]?.metadata).toMatchObject({
        throughline: { details: { runId: expect.any(String), retryAfterMs: expect.any(Number) } },
      });
      await agentRoutes(server.url).stop("talker", threadId);
      await running;
    });

    it("invalid_input, when the thread has no name", async () => {
      // An agent without a name makes one up; CopilotKit and HttpAgent alike send what they are given.
      const client = open(kind, "poet", newThread());
      client.say("hello");
      const routes = agentRoutes(server.url);
      for (const action of [routes.run, routes.connect]) {
        const events = await readEvents(await action("poet", { messages: [] }));
        expect(events.map(({ data }) => [data.type, data.code])).toEqual([
          ["RUN_STARTED", undefined],
          ["RUN_ERROR", "invalid_input"],
        ]);
      }
      expect(codesOf(await client.run())).toEqual([]);
    });

    it("invalid_input, when a message that the thread holds was changed", async () => {
      const threadId = newThread();
      const first = open(kind, "poet", threadId);
      first.say("rivers", "m1");
      await first.run();
      const changed = open(kind, "poet", threadId);
      changed.say("mountains", "m1");
      expect(codesOf(await changed.run())).toEqual(["invalid_input"]);
    });

    it("run_failed, when the model breaks off; what it said is taken back, and the thread goes on", async () => {
      const threadId = newThread();
      const client = open(kind, "talker", threadId);
      client.say(talk({ words: 5, failAfterTokens: 3 }));
      expect(codesOf(await client.run())).toEqual(["run_failed"]);
      const reloaded = open(kind, "talker", threadId);
      expect(codesOf(await reloaded.connect())).toEqual([]);
      expect(shown(reloaded)).toEqual(shown(client));
      expect(reloaded.messages.map(({ role }) => role)).toEqual(["user"]);
      reloaded.say(talk({ words: 1 }));
      expect(codesOf(await reloaded.run())).toEqual([]);
    });

    it("interrupt_pending, when a question is open; conflict, when it was answered otherwise", async () => {
      const threadId = newThread();
      const client = open(kind, "travel", threadId);
      client.say("plan a trip from Amsterdam to San Francisco");
      const asked = await client.run();
      const other = open(kind, "travel", threadId);
      other.say("something else");
      expect(codesOf(await other.run())).toEqual(["interrupt_pending"]);
      const [answering, late] = [open(kind, "travel", threadId), open(kind, "travel", threadId)];
      expect((await answering.run(answerTo(asked, 0))).errors).toEqual([]);
      if (kind === "HttpAgent 1.0.0")
        expect(codesOf(await late.run(answerTo(asked, 1)))).toEqual(["conflict"]);
    });

    it("shutting_down, when the server leaves in the middle of a run", async () => {
      const databaseUrl = await postgres.createDatabase();
      const leaving = await startServer({ databaseUrl, graphs: STAGE });
      const client = open(kind, "talker", newThread(), leaving.url);
      client.say(LONG);
      const begun = client.heard("TEXT_MESSAGE_CONTENT");
      const running = client.run();
      await begun;
      await leaving.stop();
      expect(codesOf(await running)).toEqual(["shutting_down"]);
    });
  });

  it("reads a refusal before its input was accepted as a failed request", async () => {
    // These clients say on the console what they throw.
    vi.spyOn(console, "error").mockImplementation(() => {});
    const client = open(kind, "chat", newThread());
    client.say("hello");
    const refused = client.run({ forwardedProps: { throughline: { strategy: "shove" } } });
    await expect(refused).rejects.toMatchObject({ status: 400 });
  });
});

it("a thread reads the same with every client", async () => {
  const threadId = newThread();
  const routes = agentRoutes(server.url);
  await readEvents(await routes.run("chat", { threadId, messages: [said("q", "what is 6 * 7?")] }));
  const views = [];
  for (const kind of CLIENT_KINDS) {
    const client = open(kind, "chat", threadId);
    await client.connect();
    views.push(client.messages.map(({ id, role, content }) => ({ id, role, content })));
  }
  expect(views[1]).toEqual(views[0]);
  expect(views[2]).toEqual(views[0]);
});

interface Question {
  /** Only where the question came in the standard form. */
  readonly id: string | undefined;
  readonly options: readonly unknown[];
}

/** What was asked, in whichever form it came. */
function questionsOf({ asked, outcomes }: Heard): Question[] {
  // A parsed boundary: the client's own schemas let it through.
  const finished = outcomes as ({ interrupts?: StandardInterrupt[] } | undefined)[];
  const standard = finished.flatMap((outcome) => outcome?.interrupts ?? []);
  return [
    ...asked.map((value) => ({ id: undefined, options: JSON.parse(value).options })),
    ...standard.map(({ id, metadata }) => ({ id, options: metadata.langgraph.raw.options })),
  ];
}

interface StandardInterrupt {
  readonly id: string;
  readonly metadata: { readonly langgraph: { readonly raw: { readonly options: readonly unknown[] } } };
}

/** Takes the option with this index, in the form the question came in. */
function answerTo(heard: Heard, index: number) {
  const [question] = questionsOf(heard);
  const payload = question?.options[index];
  if (question?.id === undefined) return { forwardedProps: { command: { resume: JSON.stringify(payload) } } };
  return { resume: [{ interruptId: question.id, status: "resolved", payload }] };
}
