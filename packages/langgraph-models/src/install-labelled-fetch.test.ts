import { RunnableLambda } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI as StrangersModel } from "@langchain/openai";
import { markMetered } from "@throughline/ai-core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { installLabelledFetch } from "./labelled-fetch.js";
import { labelsOf, type OpenAiDouble, startOpenAiDouble } from "./testing/openai-double.js";

const KEYS = JSON.stringify({ "key-a": "sk-a", "key-b": { token: "sk-b", account: "b" } });

let proxy: OpenAiDouble;
beforeEach(async () => {
  proxy = await startOpenAiDouble();
  vi.stubEnv("LITELLM_BASE_URL", `${proxy.url}/v1`);
  vi.stubEnv("LITELLM_VIRTUAL_KEYS", KEYS);
  vi.stubEnv("LITELLM_API_KEY", "");
  for (const provider of ["OPENAI", "ANTHROPIC"]) {
    vi.stubEnv(`${provider}_BASE_URL`, "https://provider.invalid");
    vi.stubEnv(`${provider}_API_KEY`, "");
  }
  // Restored after each test, whatever is installed meanwhile.
  vi.stubGlobal("fetch", globalThis.fetch);
});
afterEach(async () => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  await proxy.stop();
});

/** As a project that knows nothing of us makes its model: address and key come from the environment. */
function strangersModel(maxRetries = 0) {
  return new StrangersModel({
    model: "cheap",
    maxRetries,
    configuration: {
      defaultHeaders: {
        "x-litellm-call-id": "chosen by the graph",
        "x-litellm-session-id": "chosen by the graph",
        "x-litellm-trace-id": "chosen by the graph",
        "x-litellm-api-key": "sk-of-the-graph",
        "x-litellm-spend-logs-metadata": '{"accountId":"someone else"}',
      },
    },
  });
}

function strangersGraph(maxRetries = 0) {
  return new StateGraph(MessagesAnnotation)
    .addNode("answer", async ({ messages }) => ({
      messages: [await strangersModel(maxRetries).invoke(messages)],
    }))
    .addEdge(START, "answer")
    .addEdge("answer", END)
    .compile();
}

/** A run's config on a LangGraph server, as our service orders it there. */
function ordered(account: string, { keyId = `key-${account}`, runId = `run-of-${account}` } = {}) {
  return {
    configurable: { thread_id: `thread-of-${account}`, run_id: "the server's own", virtualKeyId: null },
    metadata: {
      throughline_identity: {
        runId,
        attempt: 2,
        billingAccountId: account,
        virtualKeyId: keyId,
        ingressRequestId: "request-1",
        traceId: "trace-1",
        executorType: "langgraph_server",
      },
    },
  };
}

const asked = { messages: [{ role: "user", content: "hello" }] };
const lastCall = () => proxy.calls.at(-1)?.headers;

describe("a model call of a run on a LangGraph server", () => {
  beforeEach(() => installLabelledFetch());

  it("carries the run's key and labels, whatever the graph put there", async () => {
    await strangersGraph().invoke(asked, ordered("a"));
    const headers = lastCall();
    expect(headers).toMatchObject({
      authorization: "Bearer sk-a",
      "x-litellm-session-id": "run-of-a",
      "x-litellm-call-id": expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
    });
    expect(headers).not.toHaveProperty("x-litellm-trace-id");
    expect(headers).not.toHaveProperty("x-litellm-api-key");
    expect(labelsOf(headers)).toEqual({
      accountId: "a",
      virtualKeyId: "key-a",
      runId: "run-of-a",
      attempt: 2,
      usageUnitId: headers?.["x-litellm-call-id"],
      threadId: "thread-of-a",
      requestId: "request-1",
      traceId: "trace-1",
      executorType: "langgraph_server",
    });
  });

  it("is labelled when streamed, in a subgraph and in a tool", async () => {
    const consult = tool(async () => (await strangersModel().invoke("in a tool")).text, {
      name: "consult",
      schema: z.object({}),
    });
    const tools = new ToolNode([consult]);
    const call = { id: "call-1", name: "consult", args: {}, type: "tool_call" as const };
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("inner", strangersGraph())
      .addNode("streams", async ({ messages }) => {
        for await (const _ of await strangersModel().stream(messages));
        return { messages: [{ role: "assistant", content: "", tool_calls: [call] }] };
      })
      .addNode("tools", tools)
      .addEdge(START, "inner")
      .addEdge("inner", "streams")
      .addEdge("streams", "tools")
      .addEdge("tools", END)
      .compile();
    for await (const _ of await graph.stream(asked, { ...ordered("a"), streamMode: "messages" }));
    expect(proxy.calls).toHaveLength(3);
    for (const { headers } of proxy.calls) expect(labelsOf(headers)).toMatchObject({ runId: "run-of-a" });
  });

  it("has an id of its own each time that its library sends it", async () => {
    proxy.failNext(500);
    await strangersGraph(1).invoke(asked, ordered("a"));
    const ids = proxy.calls.map(({ headers }) => headers["x-litellm-call-id"]);
    expect(new Set(ids).size).toBe(2);
  });

  it("never carries another run's key or labels, however they overlap", async () => {
    const graph = strangersGraph();
    const runs = Array.from({ length: 12 }, (_, index) => ({
      account: index % 2 === 0 ? "a" : "b",
      runId: `run-${index}`,
    }));
    await Promise.all(runs.map(({ account, runId }) => graph.invoke(asked, ordered(account, { runId }))));
    const seen = proxy.calls.map(({ headers }) => [headers.authorization, labelsOf(headers)]);
    expect(seen).toHaveLength(runs.length);
    for (const { account, runId } of runs) {
      const labels = expect.objectContaining({ runId, accountId: account, virtualKeyId: `key-${account}` });
      expect(seen).toContainEqual([`Bearer sk-${account}`, labels]);
    }
  });

  it("is its own run's also where it waits for its turn with a model that runs share", async () => {
    const shared = new StrangersModel({ model: "cheap", maxRetries: 0, maxConcurrency: 1 });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("answer", async ({ messages }) => ({ messages: [await shared.invoke(messages)] }))
      .addEdge(START, "answer")
      .addEdge("answer", END)
      .compile();
    await Promise.all(["a", "b", "a", "b"].map((account) => graph.invoke(asked, ordered(account))));
    expect(proxy.calls.map(({ headers }) => headers.authorization).sort()).toEqual(
      ["a", "a", "b", "b"].map((account) => `Bearer sk-${account}`),
    );
  });

  it.each([
    ["that is not in the map", "a", "key-z"],
    ["of another account", "a", "key-b"],
  ])("is refused with a key %s, and not repeated", async (_, account, keyId) => {
    const calling = strangersGraph(5).invoke(asked, ordered(account, { keyId }));
    await expect(calling).rejects.toMatchObject({ status: 401, type: "unauthorized" });
    expect(proxy.calls).toEqual([]);
  });
});

describe("a model call that no account of ours pays for", () => {
  beforeEach(() => installLabelledFetch());

  it("is refused outside any run, and not repeated", async () => {
    vi.stubEnv("LITELLM_API_KEY", "sk-own");
    const refused = { status: 403, type: "forbidden" };
    await expect(strangersModel(5).invoke("hello")).rejects.toMatchObject(refused);
    const chain = RunnableLambda.from(() => strangersModel(5).invoke("hello"));
    await expect(chain.invoke("hello")).rejects.toMatchObject(refused);
    expect(proxy.calls).toEqual([]);
  });

  it("is refused in a foreign run unless the server has a key for those", async () => {
    const foreign = { configurable: { thread_id: "thread-1", run_id: "foreign-1" } };
    const calling = strangersGraph(5).invoke(asked, foreign);
    await expect(calling).rejects.toMatchObject({ status: 401, type: "unauthorized" });
    expect(proxy.calls).toEqual([]);
    vi.stubEnv("LITELLM_API_KEY", "sk-own");
    await strangersGraph().invoke(asked, foreign);
    expect(lastCall()?.authorization).toBe("Bearer sk-own");
    expect(labelsOf(lastCall())).toEqual({
      runId: "foreign-1",
      threadId: "thread-1",
      executorType: "langgraph_server",
      usageUnitId: lastCall()?.["x-litellm-call-id"],
    });
  });
});

describe("the labelled fetch", () => {
  it("leaves other hosts and what is no POST alone", async () => {
    const other = await startOpenAiDouble();
    installLabelledFetch();
    const headers = { authorization: "Bearer theirs" };
    await fetch(`${other.url}/v1/chat/completions`, { method: "POST", headers, body: "{}" });
    await fetch(new Request(`${proxy.url}/v1/models`, { headers }));
    await other.stop();
    for (const { calls } of [other, proxy]) {
      expect(calls.map((call) => call.headers.authorization)).toEqual(["Bearer theirs"]);
      expect(calls[0]?.headers).not.toHaveProperty("x-litellm-call-id");
    }
  });

  it("points the providers' libraries at LiteLLM, and leaves keys that are set", () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "sk-mine");
    installLabelledFetch();
    expect(process.env).toMatchObject({
      OPENAI_BASE_URL: `${proxy.url}/v1`,
      ANTHROPIC_BASE_URL: proxy.url,
      OPENAI_API_KEY: expect.stringMatching(/./),
      ANTHROPIC_API_KEY: "sk-mine",
    });
  });

  it("is not installed without a proxy, nor where requests are labelled already", () => {
    const labelling = markMetered(async () => new Response());
    globalThis.fetch = labelling;
    installLabelledFetch();
    expect(globalThis.fetch).toBe(labelling);
    const plain: typeof fetch = async () => new Response();
    globalThis.fetch = plain;
    vi.stubEnv("LITELLM_BASE_URL", "");
    installLabelledFetch();
    expect(globalThis.fetch).toBe(plain);
    vi.stubEnv("LITELLM_BASE_URL", proxy.url);
    installLabelledFetch();
    const installed = globalThis.fetch;
    installLabelledFetch();
    expect(installed).not.toBe(plain);
    expect(globalThis.fetch).toBe(installed);
  });
});
