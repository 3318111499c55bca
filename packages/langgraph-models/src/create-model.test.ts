import { inspect } from "node:util";
import { HumanMessage } from "@langchain/core/messages";
import { markMetered } from "@throughline/ai-core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createModel, loadOpenAi } from "./create-model.js";
import { envKeyResolver } from "./keys.js";
import { OfflineChatModel } from "./offline-model.js";
import { labelsOf, type OpenAiDouble, startOpenAiDouble } from "./testing/openai-double.js";

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

describe("where @langchain/openai is not installed", () => {
  it("says what to install, and passes on any other error of loading it", async () => {
    const missing = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    await expect(loadOpenAi(() => Promise.reject(missing))).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("npm install @langchain/openai"),
      cause: missing,
    });
    const broken = new Error("broken");
    await expect(loadOpenAi(() => Promise.reject(broken))).rejects.toBe(broken);
  });
});

describe("with a proxy", () => {
  let proxy: OpenAiDouble;
  beforeEach(async () => {
    proxy = await startOpenAiDouble();
    vi.stubEnv("LITELLM_BASE_URL", `${proxy.url}/v1`);
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    return proxy.stop();
  });

  const configurable = {
    model: "fast",
    virtualKeyId: "key-1",
    billingAccountId: "acme",
    runId: "run-1",
    attempt: 0,
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

    expect(proxy.calls).toHaveLength(1);
    expect(proxy.calls[0]?.headers.authorization).toBe("Bearer sk-one");
    expect(proxy.calls[0]?.body).toMatchObject({
      model: "fast",
      stream: true,
      stream_options: { include_usage: true },
    });
    const { headers } = proxy.calls[0] ?? {};
    expect(headers?.["x-litellm-session-id"]).toBe("run-1");
    expect(labelsOf(headers)).toEqual({
      accountId: "acme",
      virtualKeyId: "key-1",
      runId: "run-1",
      attempt: 0,
      usageUnitId: headers?.["x-litellm-call-id"],
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
    expect(proxy.calls.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer sk-one",
      "Bearer sk-own",
    ]);
    expect(labelsOf(proxy.calls[0]?.headers)).toMatchObject({ accountId: "acme", virtualKeyId: "key-1" });
  });

  it("uses the person's own key and sends only what is known when the run names nothing", async () => {
    const model = await createModel(undefined, { keys });
    for await (const _ of await model.stream(hello));
    expect(proxy.calls[0]?.headers.authorization).toBe("Bearer sk-own");
    expect(proxy.calls[0]?.body.model).toBe("default");
    const { "x-litellm-call-id": usageUnitId, "x-litellm-session-id": session } =
      proxy.calls[0]?.headers ?? {};
    expect(labelsOf(proxy.calls[0]?.headers)).toEqual({ executorType: "inproc", usageUnitId });
    expect(session).toBeUndefined();
  });

  it("refuses an unknown key before anything is sent", async () => {
    const model = await createModel({ configurable: { virtualKeyId: "key-9" } }, { keys });
    await expect(model.invoke(hello)).rejects.toMatchObject({ status: 401, type: "unauthorized" });
    expect(proxy.calls).toHaveLength(0);
  });

  it("goes as it is through the `fetch` of a process that labels requests itself", async () => {
    const model = await createModel({ configurable }, { keys });
    const { fetch: plain } = globalThis;
    vi.stubGlobal(
      "fetch",
      markMetered((input, init) =>
        plain(input, {
          ...init,
          headers: { "content-type": "application/json", "x-litellm-call-id": "the process's own" },
        }),
      ),
    );
    for await (const _ of await model.stream(hello));
    expect(proxy.calls.map(({ headers }) => headers["x-litellm-call-id"])).toEqual(["the process's own"]);
    expect(proxy.calls[0]?.headers).not.toHaveProperty("x-litellm-session-id");
  });

  it("never holds the key", async () => {
    const model = await createModel({ configurable }, { keys });
    expect(inspect(model, { depth: 20, showHidden: true })).not.toContain("sk-one");
  });
});
