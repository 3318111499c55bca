import { aiEventsResponse, createChatHandler, readAiEvents } from "@throughline/ai-sdk";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  createScriptedProvider,
  type ScriptedProvider,
} from "../../packages/langgraph-server/src/testing/scripted-provider.js";
import { startTestServer, type TestServer } from "../../packages/langgraph-server/src/testing/test-server.js";

const OWN = "http://own.example/api/chat";

let provider: ScriptedProvider;
let server: TestServer;
beforeAll(async () => {
  provider = createScriptedProvider();
  server = await startTestServer({ graphs: provider });
});
afterAll(() => server.close());

async function textOf(stream: ReadableStream<UIMessageChunk> | null): Promise<string> {
  let last: UIMessage | undefined;
  if (stream) for await (const state of readUIMessageStream({ stream, terminateOnError: true })) last = state;
  return (last?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}

describe("A chat handler in one's own server", () => {
  /** As a page of that server asks, by `useChat`'s own address. */
  function pageOf(chatId: string) {
    const handler = createChatHandler({
      url: `${server.url}/`,
      agentId: "scripted",
      headers: () => ({ "x-throughline-account": "acme", "x-throughline-subject": "ann" }),
    });
    const ask = (path: string, init?: RequestInit) => handler.fetch(new Request(`${OWN}${path}`, init));
    const transport = new DefaultChatTransport<UIMessage>({
      api: OWN,
      fetch: (url, init) => handler.fetch(new Request(url, init)),
    });
    const messages: UIMessage[] = [
      { id: `${chatId}-1`, role: "user", parts: [{ type: "text", text: "go" }] },
    ];
    const request = { chatId, messages, trigger: "submit-message", messageId: undefined } as const;
    return {
      ask,
      send: (abortSignal?: AbortSignal) => transport.sendMessages({ ...request, abortSignal }),
      resume: () => transport.reconnectToStream({ chatId }),
    };
  }

  it("chats, resumes and lists as the service does, for whom its headers name", async () => {
    const page = pageOf("passed");
    expect(await page.resume()).toBeNull();
    const first = page.send().then(textOf);
    const run = await provider.nextRun();
    run.say("Hel");
    const second = page.resume().then(textOf);
    await vi.waitFor(() => expect(server.service.hub.subscribers()).toBe(2));
    run.say("lo");
    run.end();
    expect(await Promise.all([first, second])).toEqual(["Hello", "Hello"]);
    const listed = await page.ask("/passed");
    expect(await listed.json()).toMatchObject({ messages: [{ role: "user" }, { role: "assistant" }] });
    const stranger = await fetch(`${server.url}/api/ai-sdk/scripted/chat/passed`);
    expect(await stranger.json()).toMatchObject({ messages: [] });
  });

  it("stops the run, and lets go of the service when its page is gone", async () => {
    const page = pageOf("stopped");
    const leaving = new AbortController();
    const stream = await page.send(leaving.signal);
    const run = await provider.nextRun();
    leaving.abort();
    await vi.waitFor(() => expect(server.service.hub.subscribers()).toBe(0));
    expect(run.request.signal.aborted).toBe(false);
    await stream.cancel().catch(() => {});
    expect(await (await page.ask("/stopped/stop", { method: "POST" })).json()).toMatchObject({
      stopped: true,
    });
    await vi.waitFor(() => expect(run.request.signal.aborted).toBe(true));
  });

  it("passes refusals on, and asks the service for nothing but chats", async () => {
    const page = pageOf("refused");
    const refused = await page.ask("", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: "invalid_input" }]);
    for (const path of ["/t/other", "/t/stream/x", "/../../me", "er"]) {
      expect((await page.ask(path)).status).toBe(404);
    }
  });
});

describe("POST /runs as an answer to useChat", () => {
  it("says what the run said", async () => {
    const asked = server.post("/runs", {
      accountId: "dev",
      runId: "backend-run",
      graphName: "scripted",
      model: "offline",
      messages: [{ role: "user", content: "go" }],
      requestId: "r",
      traceId: "t",
    });
    const run = await provider.nextRun();
    run.say("Hello");
    run.end();
    const response = aiEventsResponse(readAiEvents(await asked));
    const transport = new DefaultChatTransport<UIMessage>({ api: OWN, fetch: async () => response });
    expect(await textOf(await transport.reconnectToStream({ chatId: "any" }))).toBe("Hello");
  });
});
