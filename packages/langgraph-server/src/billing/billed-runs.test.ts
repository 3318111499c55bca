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
import { CHAT_EVENTS, plainAnswer, streamAnswer } from "../../../billing/src/testing/litellm-answers.js";
import { createHandler } from "../handler/create-handler.js";
import { createScriptedProvider, DESCRIPTOR } from "../handler/testing/scripted-provider.js";
import type { Service } from "../service/create-service.js";
import { devCaller } from "../tenancy/dev-caller.js";
import { openServiceScene } from "../testing/service-scene.js";
import type { BillingEvent } from "../thread/service-observer.js";

const BASE_URL = "http://litellm.test/v1";
const SERVICE_KEY = "sk-service";

/** LiteLLM's answers: its model list, and a call's as a stream. */
const litellm: typeof fetch = async (input) => {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  if (pathname === "/model_group/info") return Response.json({ data: [{ model_group: "cheap" }] });
  if (pathname !== "/v1/chat/completions") return plainAnswer()();
  return streamAnswer(CHAT_EVENTS)();
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
  const events: BillingEvent[] = [];
  const clock = createSimulatedClock(Date.now());
  const { service, close } = await openServiceScene({
    graphs,
    clock,
    send: litellm,
    billing: {
      baseUrl: BASE_URL,
      serviceKey: SERVICE_KEY,
      makesKeys: false,
      isSystemAccount: () => true,
      spendLog,
      policyOf: () => "list",
    },
    observer: { billed: (event) => void events.push(event) },
  });
  const handler = createHandler({ service, caller: devCaller() });
  closing.push(close, () => handler.close());
  const request = (path: string, body?: unknown) =>
    handler.fetch(
      new Request(`http://localhost${path}`, {
        headers: { "content-type": "application/json", "x-throughline-account": "acme" },
        ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      }),
    );
  return {
    service,
    events,
    clock,
    get: async (path: string) => (await request(path)).json(),
    units: () => service.billing.ledger.list({ account: "acme", state: "settled", olderThanMs: 0, limit: 9 }),
    async run(graphName: string, content: string): Promise<AiEvent[]> {
      const answer = await request("/runs", {
        accountId: "acme",
        runId: randomUUID(),
        graphName,
        messages: [{ role: "user", content }],
        requestId: "req-1",
        traceId: "trace-1",
      });
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
  let service: Service | undefined;
  const graphs = caller(() => service?.billing.fetch);

  it("names the unit of its only call", async () => {
    const scene = await serve(graphs);
    service = scene.service;
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
    service = scene.service;
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
    service = scene.service;
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
    const { run, service, get, events: billed } = await serve(upstream());
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
    expect(billed.filter(({ kind }) => kind === "billing_failed")).toEqual([]);
  });

  it("fails to be billed, once and by name, where a row is lost", async () => {
    const { run, service, get, clock, events: billed } = await serve(upstream());
    await run("scripted", "go");
    const runId = await owing(get);
    appendFileSync(spendLog, logRow(runId));
    clock.advance(15 * 60_000);
    await service.billing.reconcile();
    await service.billing.reconcile();
    expect(billed.filter(({ kind }) => kind === "billing_failed")).toEqual([
      { kind: "billing_failed", runId, account: "acme", calls: 1 },
    ]);
    expect(await get("/usage/unbilled")).toMatchObject({
      runs: [{ runId, state: "billing_failed", missing: 1 }],
    });
  });
});
