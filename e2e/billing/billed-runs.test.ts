import { randomUUID } from "node:crypto";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { type AiEvent, aiEventSchema, createSimulatedClock, type UpstreamChunk } from "@throughline/ai-core";
import { hashKey } from "@throughline/billing";
import { type GraphProvider, type GraphSource, graphRegistry } from "@throughline/graph-executor";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  createScriptedProvider,
  DESCRIPTOR,
} from "../../packages/langgraph-server/src/testing/scripted-provider.js";
import { startTestServer, type TestServer } from "../../packages/langgraph-server/src/testing/test-server.js";

const BASE_URL = "http://litellm.test/v1";
const SERVICE_KEY = "sk-service";

const chunk = (fields: object) =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", model: "cheap", ...fields })}\n\n`;

/** LiteLLM's answers as 1.106.2 gives them, shortened: its model list, and a call's stream with its price. */
const litellm: typeof fetch = async (input) => {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  if (pathname === "/model_group/info") return Response.json({ data: [{ model_group: "cheap" }] });
  const usage = { completion_tokens: 3, prompt_tokens: 11, total_tokens: 14, cost: 0.000017 };
  const events = [
    chunk({ choices: [{ index: 0, delta: { content: "w0" } }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
    chunk({ choices: [{ index: 0, delta: {} }], usage }),
    "data: [DONE]\n\n",
  ];
  const headers = { "content-type": "text/event-stream", "x-litellm-model-group": "cheap" };
  return new Response(events.join(""), { headers });
};

let folder: string;
let spendLog: string;
const closing: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "throughline-billed-"));
  spendLog = join(folder, "spend.jsonl");
  writeFileSync(spendLog, "");
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true, force: true });
});

async function serve(graphs: GraphSource | GraphProvider) {
  const clock = createSimulatedClock(Date.now());
  const server = await startTestServer({
    graphs,
    serviceClock: clock,
    send: litellm,
    billing: {
      baseUrl: BASE_URL,
      serviceKey: SERVICE_KEY,
      makesKeys: false,
      isSystemAccount: () => true,
      spendLog,
      policyOf: () => "list",
    },
  });
  const { service } = server;
  closing.push(() => server.close());
  const headers = { "x-throughline-account": "acme" };
  return {
    server,
    service,
    clock,
    async failures(): Promise<string | undefined> {
      const text = await server.metrics.render();
      return /how="billingFailed".* (\d+)/.exec(text)?.[1];
    },
    get: async (path: string) => (await fetch(`${server.url}${path}`, { headers })).json(),
    units: () => service.billing.ledger.list({ account: "acme", state: "settled", olderThanMs: 0, limit: 9 }),
    async run(graphName: string, content: string): Promise<AiEvent[]> {
      const body = {
        accountId: "acme",
        runId: randomUUID(),
        graphName,
        messages: [{ role: "user", content }],
        requestId: "req-1",
        traceId: "trace-1",
      };
      const answer = await server.post("/runs", body, headers);
      expect(answer.status).toBe(200);
      const text = await answer.text();
      const data = text.split("\n").filter((line) => line.startsWith("data: "));
      return data.map((line) => aiEventSchema.parse(JSON.parse(line.slice(6))));
    },
  };
}

const reportOf = (events: readonly AiEvent[]) => events.find(({ type }) => type === "usage_report");

/** Makes as many calls as its input says, in turn, by the `fetch` that the service meters with. */
function caller(metered: () => typeof fetch | undefined): GraphSource {
  async function call(): Promise<void> {
    const body = JSON.stringify({ model: "cheap", stream: true, messages: [] });
    const answer = await metered()?.(`${BASE_URL}/chat/completions`, { method: "POST", body });
    await answer?.text();
  }
  return graphRegistry([
    {
      descriptor: { ...DESCRIPTOR, graphId: "langgraph:caller", graphName: "caller" },
      create: () =>
        new StateGraph(MessagesAnnotation)
          .addNode("model", async ({ messages }) => {
            const calls = Number(messages.at(-1)?.content);
            const answers: AIMessage[] = [];
            for (let done = 0; done < calls; done += 1) {
              await call();
              answers.push(new AIMessage({ id: randomUUID(), content: `answer ${done}` }));
            }
            return { messages: answers };
          })
          .addEdge("__start__", "model")
          .compile(),
    },
  ]);
}

describe("the usage_report of a run whose calls are metered", () => {
  let server: TestServer | undefined;
  const graphs = caller(() => server?.service.billing.fetch);

  it("names the unit of its only call", async () => {
    const scene = await serve(graphs);
    server = scene.server;
    const events = await scene.run("caller", "1");
    const [unit] = await scene.units();
    expect(reportOf(events)).toMatchObject({
      usageUnitId: unit?.unitId,
      inputTokens: 11,
      outputTokens: 3,
      costUsd: 0.000017,
      executorType: "inproc",
      calls: [
        { usageUnitId: unit?.unitId, model: "cheap", inputTokens: 11, outputTokens: 3, costUsd: 0.000017 },
      ],
    });
    expect(unit).toMatchObject({ state: "settled", billed: 17_000_000n });
  });

  it("lists the units of several calls, oldest first, and names none as its own", async () => {
    const scene = await serve(graphs);
    server = scene.server;
    const events = await scene.run("caller", "3");
    const units = await scene.units();
    expect(units).toHaveLength(3);
    expect(reportOf(events)).toMatchObject({
      usageUnitId: null,
      inputTokens: 33,
      costUsd: 0.000051,
      calls: units.map(({ unitId }) => ({ usageUnitId: unitId, costUsd: 0.000017 })),
    });
  });

  it("lists none of a run without a call", async () => {
    const scene = await serve(graphs);
    server = scene.server;
    const report = reportOf(await scene.run("caller", "0"));
    expect(report).toMatchObject({ usageUnitId: null, complete: true });
    expect(report).not.toHaveProperty("calls");
  });
});

/** A LangGraph server whose runs each make two model calls, and answer. */
function upstream(): GraphProvider {
  const provider = createScriptedProvider();
  return {
    ...provider,
    executorType: "langgraph_server",
    runGraph(request) {
      const running = provider.runGraph(request);
      const node = `agent:${request.runId}`;
      const words = (id: string): UpstreamChunk => ({
        ns: [node],
        mode: "messages",
        data: [
          { type: "AIMessageChunk", id: `${id}-${request.runId}`, content: "w" },
          { langgraph_node: "agent", langgraph_step: 1, langgraph_checkpoint_ns: node },
        ],
      });
      async function* stream(): AsyncGenerator<UpstreamChunk> {
        yield words("first");
        yield words("second");
        (await provider.nextRun()).end();
        yield* running.stream;
      }
      return { ...running, stream: stream() };
    },
  };
}

/** A row of LiteLLM's log, as its logger writes it. */
function logRow(runId: string): string {
  const callId = randomUUID();
  return `${JSON.stringify({
    v: 1,
    status: "success",
    call_id: callId,
    request_id: "chatcmpl-1",
    unit_id: callId,
    labels: {
      accountId: "acme",
      virtualKeyId: "dev",
      runId,
      attempt: 0,
      usageUnitId: callId,
      threadId: "t",
      requestId: "req-1",
      traceId: "trace-1",
      executorType: "langgraph_server",
    },
    key_hash: hashKey(SERVICE_KEY),
    spend: 1.7e-5,
    input_tokens: 11,
    output_tokens: 3,
    cache_hit: false,
    error_code: null,
    model_group: "cheap",
    ended_at: 1_794_905_242,
  })}\n`;
}

describe("a run on a LangGraph server", () => {
  /** The id of the one run that is not billed. */
  async function owing(get: (path: string) => Promise<unknown>): Promise<string> {
    const { runs } = z
      .object({ runs: z.array(z.object({ runId: z.string() })) })
      .parse(await get("/usage/unbilled"));
    return runs[0]?.runId ?? "";
  }

  it("owes its calls until their rows come", async () => {
    const { run, service, get, failures } = await serve(upstream());
    const events = await run("scripted", "go");
    const runId = await owing(get);
    const report = reportOf(events);
    expect(report).toMatchObject({ usageUnitId: null, costUsd: null, complete: false });
    expect(report).not.toHaveProperty("calls");
    expect(await get("/usage/unbilled")).toMatchObject({
      runs: [{ runId, state: "awaited", modelCalls: 2, missing: 2 }],
    });
    appendFileSync(spendLog, logRow(runId));
    expect(await service.billing.reconcile()).toMatchObject([{ adopted: 1, awaited: 1 }]);
    expect(await get("/usage/unbilled")).toMatchObject({ runs: [{ runId, missing: 1 }] });
    appendFileSync(spendLog, logRow(runId));
    expect(await service.billing.reconcile()).toMatchObject([{ adopted: 1, awaited: 0, billingFailed: 0 }]);
    expect(await get("/usage/unbilled")).toMatchObject({ runs: [] });
    expect(await failures()).toBe("0");
  });

  it("fails to be billed, once, where a row is lost", async () => {
    const { run, service, get, clock, failures } = await serve(upstream());
    await run("scripted", "go");
    const runId = await owing(get);
    appendFileSync(spendLog, logRow(runId));
    clock.advance(15 * 60_000);
    await service.billing.reconcile();
    await service.billing.reconcile();
    expect(await failures()).toBe("1");
    expect(await get("/usage/unbilled")).toMatchObject({
      runs: [{ runId, state: "billing_failed", missing: 1 }],
    });
  });
});
