import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { HumanMessage } from "@langchain/core/messages";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createModel } from "./create-model.js";
import { envKeyResolver } from "./key-resolver.js";
import { OfflineChatModel } from "./offline-model.js";

const keys = envKeyResolver({ LITELLM_VIRTUAL_KEYS: '{"key-1":"sk-one"}', LITELLM_API_KEY: "sk-own" });
const hello = [new HumanMessage("hello")];

afterEach(() => vi.unstubAllEnvs());

describe("without a proxy", () => {
  beforeEach(() => vi.stubEnv("LITELLM_BASE_URL", ""));

  it("is the offline model, which says what it is and how to change that", async () => {
    const model = await createModel({ configurable: { offline: { paceMs: 0 } } }, { keys });
    expect(model).toBeInstanceOf(OfflineChatModel);
    const { text } = await model.invoke([new HumanMessage("tides")]);
    expect(text).toContain("tides");
    expect(text).toContain("offline model");
    expect(text).toContain("LITELLM_BASE_URL");
  });

  it("takes its pace from the run, else from the environment", async () => {
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "soon");
    await expect(createModel(undefined, { keys })).rejects.toThrow("THROUGHLINE_OFFLINE_PACE_MS");
    await expect(createModel({ configurable: { offline: { paceMs: 0 } } }, { keys })).resolves.toBeDefined();
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "0");
    await expect((await createModel(undefined, { keys })).invoke(hello)).resolves.toBeDefined();
  });

  it("fails on command", async () => {
    const config = { configurable: { offline: { paceMs: 0, failAfterTokens: 1 } } };
    await expect((await createModel(config, { keys })).invoke(hello)).rejects.toThrow(
      "told to fail after 1 tokens",
    );
  });

  it.each([
    ["model", { model: 7 }],
    ["virtualKeyId", { virtualKeyId: "" }],
    ["attempt", { attempt: -1 }],
    ["offline.paceMs", { offline: { paceMs: "fast" } }],
  ])("refuses a bad %s and names it", async (field, configurable) => {
    await expect(createModel({ configurable }, { keys })).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: `configurable.${field}` },
    });
  });
});

describe("with a proxy", () => {
  let proxy: Server;
  let calls: { headers: IncomingHttpHeaders; body: Record<string, unknown> }[];

  beforeEach(async () => {
    calls = [];
    proxy = openAiDouble((call) => calls.push(call));
    await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
    const address = proxy.address();
    vi.stubEnv("LITELLM_BASE_URL", `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1`);
  });
  afterEach(() => new Promise((closed) => proxy.close(closed)));

  const configurable = {
    model: "fast",
    virtualKeyId: "key-1",
    billingAccountId: "acme",
    runId: "run-1",
    attempt: 0,
    usageUnitId: "run-1/0/1",
    thread_id: "thread-1",
    ingressRequestId: "request-1",
    traceId: "trace-é",
    executorType: "langgraph_server",
  };

  it("streams text, tool calls and usage with the caller's key, model and spend metadata", async () => {
    const model = await createModel({ configurable }, { keys });
    const chunks = [];
    for await (const chunk of await model.stream(hello)) chunks.push(chunk);
    const whole = chunks.reduce((left, right) => left.concat(right));
    expect(whole.text).toBe("Good morning");
    expect(whole.tool_calls).toMatchObject([{ id: "call_1", name: "clock", args: { zone: "UTC" } }]);
    expect(whole.usage_metadata).toMatchObject({ input_tokens: 7, output_tokens: 2, total_tokens: 9 });

    expect(calls).toHaveLength(1);
    expect(calls[0]?.headers.authorization).toBe("Bearer sk-one");
    expect(calls[0]?.body).toMatchObject({
      model: "fast",
      stream: true,
      stream_options: { include_usage: true },
    });
    const spend = calls[0]?.headers["x-litellm-spend-logs-metadata"];
    expect(JSON.parse(String(spend))).toEqual({
      accountId: "acme",
      virtualKeyId: "key-1",
      runId: "run-1",
      attempt: 0,
      usageUnitId: "run-1/0/1",
      threadId: "thread-1",
      requestId: "request-1",
      traceId: "trace-é",
      executorType: "langgraph_server",
    });
  });

  it("finds in whose name a run on a LangGraph server runs in its metadata, where `configurable` says null", async () => {
    const { virtualKeyId, billingAccountId, ...rest } = configurable;
    const config = {
      configurable: { ...rest, virtualKeyId: null, billingAccountId: null },
      metadata: { throughline_identity: { virtualKeyId, billingAccountId } },
    };
    for await (const _ of await (await createModel(config, { keys })).stream(hello));
    for await (const _ of await (await createModel({ configurable: config.configurable }, { keys })).stream(
      hello,
    ));
    expect(calls.map(({ headers }) => headers.authorization)).toEqual(["Bearer sk-one", "Bearer sk-own"]);
    const spend = String(calls[0]?.headers["x-litellm-spend-logs-metadata"]);
    expect(JSON.parse(spend)).toMatchObject({ accountId: "acme", virtualKeyId: "key-1" });
  });

  it("uses the person's own key and sends only what is known when the run names nothing", async () => {
    const model = await createModel(undefined, { keys });
    for await (const _ of await model.stream(hello));
    expect(calls[0]?.headers.authorization).toBe("Bearer sk-own");
    expect(calls[0]?.body.model).toBe("default");
    expect(calls[0]?.headers["x-litellm-spend-logs-metadata"]).toBe('{"executorType":"inproc"}');
  });

  it("refuses an unknown key before anything is sent", async () => {
    const refused = createModel({ configurable: { virtualKeyId: "key-9" } }, { keys });
    await expect(refused).rejects.toMatchObject({ code: "unauthorized" });
    expect(calls).toHaveLength(0);
  });

  it("keeps the key out of what the model shows of itself to tracers", async () => {
    const model = await createModel({ configurable }, { keys });
    expect(JSON.stringify(model.toJSON())).not.toContain("sk-one");
  });
});

/** Speaks the streaming chat-completions protocol as a LiteLLM proxy does. */
function openAiDouble(
  onCall: (call: { headers: IncomingHttpHeaders; body: Record<string, unknown> }) => void,
): Server {
  const call = (piece: object) => ({ delta: { tool_calls: [{ index: 0, ...piece }] } });
  const choices = [
    { delta: { role: "assistant", content: "" } },
    { delta: { content: "Good " } },
    { delta: { content: "morning" } },
    call({ id: "call_1", type: "function", function: { name: "clock", arguments: "" } }),
    call({ function: { arguments: '{"zone":' } }),
    call({ function: { arguments: '"UTC"}' } }),
    { delta: {}, finish_reason: "tool_calls" },
  ];
  return createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    onCall({ headers: request.headers, body: JSON.parse(text) });
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (event: object) => {
      const base = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "fast-1" };
      response.write(`data: ${JSON.stringify({ ...base, ...event })}\n\n`);
    };
    for (const choice of choices) send({ choices: [{ index: 0, finish_reason: null, ...choice }] });
    send({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } });
    response.end("data: [DONE]\n\n");
  });
}
