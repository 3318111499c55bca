import {
  DefaultChatTransport,
  JsonToSseTransformStream,
  readUIMessageStream,
  UI_MESSAGE_STREAM_HEADERS,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createScriptedProvider, type ScriptedProvider } from "../../testing/scripted-provider.js";
import { readEvents } from "../../testing/sse-events.js";
import { startTestServer, type TestServer } from "../../testing/test-server.js";

let catalog: TestServer;
let scripted: TestServer;
let provider: ScriptedProvider;
beforeAll(async () => {
  provider = createScriptedProvider();
  [catalog, scripted] = await Promise.all([startTestServer(), startTestServer({ graphs: provider })]);
});
afterAll(() => Promise.all([catalog.close(), scripted.close()]));

const person = (id: string, text: string): UIMessage => ({
  id,
  role: "user",
  parts: [{ type: "text", text }],
});
const route = (server: TestServer, agent: string) => `${server.url}/api/ai-sdk/${agent}/chat`;

/** The AI SDK's own transport and reader, nothing overridden. */
function stockChat(server: TestServer, agent: string, chatId: string) {
  const api = route(server, agent);
  const transport = new DefaultChatTransport<UIMessage>({ api });
  const rest = { chatId, abortSignal: undefined };
  return {
    send: (messages: UIMessage[], body = {}) =>
      transport.sendMessages({ ...rest, messages, body, trigger: "submit-message", messageId: undefined }),
    regenerate: (messages: UIMessage[]) =>
      transport.sendMessages({ ...rest, messages, trigger: "regenerate-message", messageId: undefined }),
    resume: () => transport.reconnectToStream({ chatId }),
    resumeSince: (since: string | null) =>
      new DefaultChatTransport<UIMessage>({
        api,
        prepareReconnectToStreamRequest: () => ({ api: `${api}/${chatId}/stream?since=${since}` }),
      }).reconnectToStream({ chatId }),
    stop: () => fetch(`${api}/${chatId}/stop`, { method: "POST" }),
    async messages() {
      const answer = await fetch(`${api}/${chatId}`);
      return chatSchema.parse(await answer.json());
    },
  };
}

const chatSchema = z.object({
  messages: z.array(z.looseObject({ id: z.string(), role: z.string(), parts: z.array(z.looseObject({})) })),
  isRunning: z.boolean(),
  cursor: z.string().nullable(),
});
const questionSchema = z.looseObject({
  type: z.literal("data-question"),
  id: z.string(),
  data: z.looseObject({
    status: z.string(),
    metadata: z.object({ langgraph: z.object({ raw: z.object({ options: z.array(z.unknown()) }) }) }),
  }),
});

async function built(stream: ReadableStream<UIMessageChunk> | null, message?: UIMessage): Promise<UIMessage> {
  if (!stream) throw new Error("Nothing runs.");
  let last: UIMessage | undefined;
  const states = readUIMessageStream({ stream, terminateOnError: true, ...(message && { message }) });
  for await (const state of states) last = state;
  if (!last) throw new Error("The stream said nothing.");
  return last;
}

const textOf = ({ parts }: UIMessage) =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const questionsOf = (message: UIMessage) =>
  message.parts.filter(({ type }) => type === "data-question").map((part) => questionSchema.parse(part));

describe("useChat's transport", () => {
  it("chats: the answer it builds is the one that the chat's messages hold, with thoughts and tools", async () => {
    for (const [agent, text] of [
      ["ponderer", "why is the sky blue?"],
      ["chat", "what is 2 + 3?"],
    ] as const) {
      const chat = stockChat(catalog, agent, "told");
      const answer = await built(await chat.send([person(`${agent}-1`, text)]));
      const { messages, isRunning } = await chat.messages();
      expect(isRunning).toBe(false);
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
      expect(messages[1]?.id).toBe(answer.id);
      expect(messages[1]?.parts).toEqual(plain(answer.parts));
      const types = new Set(answer.parts.map(({ type }) => type));
      expect(types).toContain(agent === "chat" ? "dynamic-tool" : "reasoning");
    }
  });

  it("goes on in the same thread, whether it sends all messages or the last", async () => {
    const chat = stockChat(catalog, "chat", "turns");
    const first = person("turn-1", "hello");
    const answer = await built(await chat.send([first]));
    await built(await chat.send([first, answer, person("turn-2", "and again")]));
    await built(await chat.send([person("turn-3", "once more")]));
    const { messages } = await chat.messages();
    expect(messages.map(({ id }) => id)).toEqual([1, 2, 3].flatMap((n) => [`turn-${n}`, `turn-${n}/answer`]));
  });

  it("resumes an answer that is being given, whole, and finds nothing to resume afterwards", async () => {
    const chat = stockChat(scripted, "scripted", "resumed");
    expect(await chat.resume()).toBeNull();
    const first = built(await chat.send([person("r-1", "go")]));
    const run = await provider.nextRun();
    run.say("Hel");
    const second = chat.resume().then((stream) => built(stream));
    await vi.waitFor(() => expect(scripted.service.hub.subscribers()).toBe(2));
    run.say("lo");
    run.end();
    expect((await Promise.all([first, second])).map(textOf)).toEqual(["Hello", "Hello"]);
    expect((await first).id).toBe((await second).id);
    expect(await chat.resume()).toBeNull();
  });

  it("gets an answer whole that ended between the page's messages and its reconnect", async () => {
    const chat = stockChat(scripted, "scripted", "between");
    const first = built(await chat.send([person("w-1", "go")]));
    const run = await provider.nextRun();
    run.say("Hel");
    await vi.waitFor(async () => expect(JSON.stringify(await chat.messages())).toContain("Hel"));
    const { cursor, isRunning } = await chat.messages();
    expect(isRunning).toBe(true);
    run.say("lo");
    run.end();
    await first;
    expect(textOf(await built(await chat.resumeSince(cursor)))).toBe("Hello");
    expect(await chat.resumeSince((await chat.messages()).cursor)).toBeNull();
  });

  it("gets, holding any cursor, exactly the chunks that are left, also when the run has ended since", async () => {
    const chat = stockChat(scripted, "scripted", "cursor");
    const sent = await scripted.post("/api/ai-sdk/scripted/chat", {
      id: "cursor",
      messages: [person("c-1", "go")],
    });
    const run = await provider.nextRun();
    for (const word of ["one ", "two ", "three"]) run.say(word);
    run.end();
    const all = await readEvents(sent);
    expect(await chat.resume()).toBeNull();
    for (const [at, { id }] of all.entries()) {
      const answer = await fetch(`${route(scripted, "scripted")}/cursor/stream`, {
        headers: { "last-event-id": id ?? "" },
      });
      expect(await readEvents(answer)).toEqual(all.slice(at + 1));
    }
  });

  it("is told of a stop as an abort, and may try again what was stopped", async () => {
    const chat = stockChat(scripted, "scripted", "stopped");
    const said = person("s-1", "go");
    const stream = await chat.send([said]);
    const run = await provider.nextRun();
    run.say("Once");
    await vi.waitFor(async () => expect(JSON.stringify(await chat.messages())).toContain("Once"));
    expect(await (await chat.stop()).json()).toMatchObject({ stopped: true });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types).toContain("text-end");
    expect(types.at(-1)).toBe("abort");
    const again = built(await chat.regenerate([said]));
    const second = await provider.nextRun();
    second.say("Twice");
    second.end();
    expect(textOf(await again)).toBe("Twice");
  });

  it("gets another answer to any message, from the checkpoint before it", async () => {
    const chat = stockChat(catalog, "chat", "regenerated");
    const said = [person("r-1", "What is 2 + 2?"), person("r-2", "What is 3 + 3?")] as const;
    const first = await built(await chat.send([said[0]]));
    const second = await built(await chat.send([said[0], first, said[1]]));
    const lastOfGraph = async () => {
      const state = await fetch(`${catalog.url}/agents/chat/threads/regenerated/state`);
      return z
        .object({ messages: z.array(z.object({ id: z.string() })) })
        .parse(await state.json())
        .messages.at(-1);
    };
    const before = await lastOfGraph();
    const again = await built(await chat.regenerate([said[0], first, said[1]]));
    expect(textOf(again)).toBe(textOf(second));
    expect(await lastOfGraph()).not.toEqual(before);
    const ids = async () => (await chat.messages()).messages.map(({ id }) => id);
    expect(await ids()).toEqual([said[0].id, first.id, said[1].id, again.id]);
    // Back to the first one: what came behind it is taken back.
    const earlier = await built(await chat.regenerate([said[0]]));
    expect(textOf(earlier)).toBe(textOf(first));
    expect(earlier.id).toBe(first.id);
    expect(await ids()).toEqual([said[0].id, first.id]);
    await expect(chat.regenerate([person("r-9", "never sent")])).rejects.toThrow("holds an answer to");
  });

  it("asks a question as a data part, takes the answer, and goes on in the same message", async () => {
    const chat = stockChat(catalog, "travel", "asked");
    const said = person("q-1", "from Amsterdam to San Francisco");
    const asking = await built(await chat.send([said]));
    const [question] = questionsOf(asking);
    expect(question?.data.status).toBe("open");
    const { messages } = await chat.messages();
    expect(messages.at(-1)?.parts.at(-1)).toMatchObject({ type: "data-question", id: question?.id });
    const [payload] = question?.data.metadata.langgraph.raw.options ?? [];
    const resume = [{ interruptId: question?.id, status: "resolved", payload }];
    const answered = await built(await chat.send([said, asking], { resume }), asking);
    expect(answered.id).toBe(asking.id);
    const asked = questionsOf(answered).map(({ data }) => data.status);
    expect(asked).toEqual(["answered", "open"]);
    expect(textOf(answered).startsWith(textOf(asking))).toBe(true);
    // Another device, which has only the question.
    const [, next] = questionsOf(answered);
    const [hotel] = next?.data.metadata.langgraph.raw.options ?? [];
    const elsewhere = await built(
      await chat.send([said], { resume: [{ interruptId: next?.id, status: "resolved", payload: hotel }] }),
    );
    expect(elsewhere.id).toBe(asking.id);
    expect(textOf(elsewhere).startsWith(textOf(asking))).toBe(true);
  });

  it("sends files, which the chat's messages name by links that can be fetched", async () => {
    const chat = stockChat(catalog, "chat", "files");
    const url = `data:text/plain;base64,${Buffer.from("a file's words").toString("base64")}`;
    const file = { type: "file", mediaType: "text/plain", filename: "words.txt", url } as const;
    await built(
      await chat.send([{ id: "f-1", role: "user", parts: [file, { type: "text", text: "read it" }] }]),
    );
    const { messages } = await chat.messages();
    const [shown] = messages[0]?.parts ?? [];
    expect(shown).toMatchObject({ type: "file", mediaType: "text/plain", filename: "words.txt" });
    expect(await (await fetch(String(shown?.url))).text()).toBe("a file's words");
  });

  it("is refused with a status where the thread is busy", async () => {
    const chat = stockChat(scripted, "scripted", "busy");
    const first = built(await chat.send([person("b-1", "go")]));
    const run = await provider.nextRun();
    await expect(chat.send([person("b-2", "me too")])).rejects.toThrow('"code":"busy"');
    run.end();
    await first.catch(() => {});
  });
});

describe("The stream", () => {
  it("is framed as the AI SDK's own helper frames it, with a cursor on every chunk of the log", async () => {
    const sent = await catalog.post("/api/ai-sdk/poet/chat", {
      id: "framed",
      messages: [person("p-1", "rivers")],
    });
    for (const [name, value] of Object.entries(UI_MESSAGE_STREAM_HEADERS)) {
      // Ours says more of caching; a connection is Node's own matter.
      if (name === "content-type") expect(sent.headers.get(name)).toContain(value);
      else if (name.startsWith("x-")) expect(sent.headers.get(name)).toBe(value);
    }
    const text = await sent.text();
    const frames = text.split("\n\n").filter((frame) => frame !== "" && !frame.startsWith(":"));
    const data = frames.map((frame) => frame.replace(/^id: .*\n/, ""));
    expect(frames.filter((frame) => !frame.startsWith("id: "))).toEqual(["data: [DONE]"]);
    const chunks = data.slice(0, -1).map((line): unknown => JSON.parse(line.slice("data: ".length)));
    const helper = ReadableStream.from(chunks).pipeThrough(new JsonToSseTransformStream());
    let theirs = "";
    for await (const piece of helper) theirs += piece;
    expect(theirs).toBe(`${data.join("\n\n")}\n\n`);
  });
});
