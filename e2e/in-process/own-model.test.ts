import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { createAgentClient, type ThreadSnapshot } from "@throughline/agent-client";
import { loadProjectGraphs } from "@throughline/graph-executor";
import { createHandler, createService, devCaller } from "@throughline/langgraph-server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { until } from "../client/shown.js";
import { serveHandler } from "./serve-handler.js";

// Graphs as their authors write them, with models of a provider's that records what it is asked for.
const PROJECT = `
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createDeepAgent } from "deepagents";
import { createAgent, initChatModel } from "langchain";
import { z } from "zod";

export const agent = createAgent({ model: "openai:gpt-4o-mini", tools: [] });
export const deep = createDeepAgent({ model: "openai:gpt-4o-mini" });

const call = (modelOf) => async (state, config) => {
  const model = await initChatModel(modelOf(config), { modelProvider: "openai" });
  return { messages: [await model.invoke(state.messages, config)] };
};
const graphOf = (builder, node) => builder.addNode("call", node).addEdge(START, "call").addEdge("call", END).compile();

export const plain = graphOf(new StateGraph(MessagesAnnotation), call(() => "gpt-4o-mini"));

const Configuration = Annotation.Root({ model: Annotation() });
export const template = graphOf(
  new StateGraph(MessagesAnnotation, Configuration),
  call((config) => config.configurable?.model ?? "gpt-4o-mini"),
);

const context = z.object({ model: z.string().default("gpt-4o-mini"), tone: z.enum(["dry", "warm"]).optional() });
export const choosing = graphOf(
  new StateGraph({ state: MessagesAnnotation, context }),
  call((config) => config.context?.model ?? "gpt-4o-mini"),
);

const Count = Annotation.Root({ ...MessagesAnnotation.spec, count: Annotation({ reducer: (a, b) => a + b, default: () => 0 }) });
export const counting = new StateGraph({ state: Count, context: z.object({ to: z.number(), word: z.string().optional() }) })
  .addNode("step", (state, { context, configurable }) => {
    if (context.to !== configurable.to) throw new Error("context and configurable differ");
    return { count: 1 };
  })
  .addNode("end", (state, { context }) => ({ messages: [{ role: "assistant", content: \`\${state.count} \${context.word}\` }] }))
  .addEdge(START, "step")
  .addConditionalEdges("step", (state, { context }) => (state.count < context.to ? "step" : "end"))
  .addEdge("end", END)
  .compile();
`;

const NAMES = ["agent", "deep", "plain", "template", "choosing", "counting"] as const;

/** A provider of OpenAI's two protocols that records the models it was asked for. */
async function startProvider() {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const { model, stream } = JSON.parse(text);
    asked.push(model);
    const { whole, pieces } = request.url?.endsWith("/responses") ? responseOf(model) : completionOf(model);
    response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" });
    if (stream) for (const piece of pieces) response.write(`data: ${JSON.stringify(piece)}\n\n`);
    response.end(stream ? "data: [DONE]\n\n" : JSON.stringify(whole));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1`,
    asked,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function completionOf(model: string) {
  const base = { id: "chatcmpl-1", created: 1, model };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const message = { role: "assistant", content: "Good morning" };
  const piece = (choices: object[]) => ({ ...base, object: "chat.completion.chunk", choices });
  return {
    whole: {
      ...base,
      object: "chat.completion",
      choices: [{ index: 0, finish_reason: "stop", message }],
      usage,
    },
    pieces: [
      piece([{ index: 0, delta: message, finish_reason: null }]),
      piece([{ index: 0, delta: {}, finish_reason: "stop" }]),
      { ...piece([]), usage },
    ],
  };
}

function responseOf(model: string) {
  const content = [{ type: "output_text", text: "Good morning", annotations: [] }];
  const item = { type: "message", id: "msg_1", role: "assistant", status: "completed", content };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const whole = { id: "resp_1", object: "response", status: "completed", model, output: [item], usage };
  const at = { output_index: 0, content_index: 0, item_id: item.id };
  return {
    whole,
    pieces: [
      { type: "response.created", response: { ...whole, output: [], status: "in_progress" } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
      { type: "response.output_text.delta", ...at, delta: "Good morning" },
      { type: "response.completed", response: whole },
    ],
  };
}

// Where a project's packages would be installed.
const folder = mkdtempSync(
  join(resolve(import.meta.dirname, "../.."), "packages/langgraph-graphs/.own-model-"),
);
afterAll(() => rmSync(folder, { recursive: true }));

describe("A project's own model and configuration", () => {
  let provider: Awaited<ReturnType<typeof startProvider>>;
  let url = "";
  let stop = async () => {};

  beforeAll(async () => {
    provider = await startProvider();
    vi.stubEnv("OPENAI_API_KEY", "sk-test");
    vi.stubEnv("OPENAI_BASE_URL", provider.url);
    writeFileSync(join(folder, "graphs.mjs"), PROJECT);
    const specs: Record<string, unknown> = Object.fromEntries(
      NAMES.map((name) => [name, `./graphs.mjs:${name}`]),
    );
    specs.house = { path: "./graphs.mjs:choosing", model: "gpt-of-the-house" };
    specs.ignoring = { path: "./graphs.mjs:plain", model: "gpt-of-the-house" };
    specs.named = { path: "./graphs.mjs:template", context_keys: ["model"] };
    specs.countingFar = {
      path: "./graphs.mjs:counting",
      config: { recursion_limit: 50, configurable: { to: 40, word: "by file" } },
    };
    writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ graphs: specs }));
    const graphs = await loadProjectGraphs(join(folder, "langgraph.json"));
    const service = await createService({ store: { kind: "memory" }, graphs });
    const handler = createHandler({ service, caller: devCaller() });
    const server = await serveHandler(handler);
    url = server.url;
    stop = async () => {
      await server.stop();
      await handler.close();
      await service.close({ drainMs: 0 });
    };
  }, 60_000);

  afterAll(async () => {
    await stop();
    provider.stop();
    vi.unstubAllEnvs();
  });

  async function say(agent: string): Promise<ThreadSnapshot> {
    const client = createAgentClient({ url: `${url}/api/copilotkit` });
    try {
      const thread = client.thread(`langgraph:${agent}`, "t");
      thread.open();
      await thread.send("Hello");
      await until(thread, ({ view }) => view.run?.status !== undefined && view.run.status !== "running");
      return thread.getSnapshot();
    } finally {
      client.close();
    }
  }

  /** Runs by `POST /runs`, and gives the status with the events or the error. */
  async function run(graphName: string, more: object): Promise<{ status: number; text: string }> {
    const ids = { accountId: "dev", runId: crypto.randomUUID(), requestId: "r", traceId: "t" };
    const body = JSON.stringify({
      ...ids,
      graphName,
      messages: [{ role: "user", content: "Hello" }],
      ...more,
    });
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/runs`, { method: "POST", headers, body });
    return { status: response.status, text: await response.text() };
  }

  it.each(["agent", "deep", "plain", "template", "choosing", "ignoring"])(
    "The provider of %s receives the model that its author wrote",
    async (name) => {
      provider.asked.length = 0;
      const { view } = await say(name);
      expect(view.run?.status).toBe("success");
      expect(provider.asked).toEqual(["gpt-4o-mini"]);
    },
  );

  it("A run, or the project's file, chooses a model where the context schema declares it", async () => {
    provider.asked.length = 0;
    expect((await run("choosing", { model: "gpt-of-the-run" })).text).toContain("event: done");
    expect((await run("house", {})).text).toContain("event: done");
    expect((await run("house", { model: "gpt-of-the-run" })).text).toContain("event: done");
    expect((await run("named", { model: "gpt-of-the-run" })).text).toContain("event: done");
    expect(provider.asked).toEqual([
      "gpt-of-the-run",
      "gpt-of-the-house",
      "gpt-of-the-run",
      "gpt-of-the-run",
    ]);
  });

  it("A run that names a model is refused by a graph that accepts none", async () => {
    const { status, text } = await run("agent", { model: "gpt-of-the-run" });
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining('the graph "agent" accepts no model'),
      details: { field: "model" },
    });
  });

  it("Agents say whether a run may name a model, and what it may configure", async () => {
    const { agents } = await (await fetch(`${url}/agents`)).json();
    const accepts = agents.filter((agent: { acceptsModel: boolean }) => agent.acceptsModel);
    expect(accepts.map(({ graphName }: { graphName: string }) => graphName)).toEqual([
      "choosing",
      "house",
      "named",
    ]);
    expect(accepts[0].contextSchema.properties).toMatchObject({ model: {}, tone: { enum: ["dry", "warm"] } });
  });

  it("A run is configured by its request, by AG-UI and by POST /runs", async () => {
    const config = { recursion_limit: 50, configurable: { to: 40, word: "by run" } };
    expect((await run("counting", { config })).text).toContain("40 by run");
    const threadId = crypto.randomUUID();
    const input = {
      threadId,
      runId: crypto.randomUUID(),
      messages: [{ id: "m", role: "user", content: "Hello" }],
      state: {},
      tools: [],
      context: [],
      forwardedProps: { throughline: { config } },
    };
    const headers = { "content-type": "application/json" };
    const agUi = { method: "POST", headers, body: JSON.stringify(input) };
    const streamed = await fetch(`${url}/api/copilotkit/agent/langgraph:counting/run`, agUi);
    expect(await streamed.text()).toContain("40 by run");
  });

  it("A graph is configured by the project's file, and a run's own configuration wins", async () => {
    expect((await run("countingFar", {})).text).toContain("40 by file");
    const config = { configurable: { word: "by run" } };
    expect((await run("countingFar", { config })).text).toContain("40 by run");
  });

  it("A run that reaches the recursion limit says which setting raises it", async () => {
    const { text } = await run("counting", { config: { configurable: { to: 40 } } });
    expect(text).toContain("Raise `config.recursion_limit`");
  });

  it.each([
    [
      { colour: "red" },
      'config.configurable.colour: the graph \\"counting\\" declares no such key. It declares: to, word.',
    ],
    [{ to: "forty" }, "config.configurable.to: "],
    [{ billingAccountId: "other" }, "config.configurable.billingAccountId: is set by the service"],
    [{ model: "m" }, "config.configurable.model: name the model as `model`"],
  ])(
    "A configuration that the graph does not declare is refused by name: %j",
    async (configurable, sentence) => {
      const { status, text } = await run("counting", { config: { configurable } });
      expect(status).toBe(400);
      expect(text).toContain(sentence);
    },
  );
});
