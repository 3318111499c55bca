import { createServer, type Server } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";

/** A run as LangSmith's ingest takes it; a later patch has what its end adds. */
interface IngestedRun {
  readonly id: string;
  readonly name?: string;
  readonly trace_id?: string;
  readonly parent_run_id?: string;
  readonly run_type?: string;
  readonly end_time?: unknown;
  readonly extra?: { readonly metadata?: Readonly<Record<string, unknown>> };
}

const ingested: IngestedRun[] = [];
let collector: Server;
let scene: ServiceScene;
beforeAll(async () => {
  collector = createServer(async (asked, response) => {
    response.setHeader("content-type", "application/json");
    // Asked first: a server that takes JSON batches only.
    if (asked.url?.endsWith("/info")) {
      response.end(JSON.stringify({ batch_ingest_config: { use_multipart_endpoint: false } }));
      return;
    }
    // A parsed boundary: LangSmith's own client wrote it.
    const { post = [], patch = [] } = (await json(asked)) as { post?: IngestedRun[]; patch?: IngestedRun[] };
    ingested.push(...post, ...patch);
    response.end("{}");
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  const address = collector.address();
  process.env.LANGSMITH_TRACING = "true";
  process.env.LANGSMITH_API_KEY = "a key of the test";
  process.env.LANGSMITH_ENDPOINT = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  scene = await openServiceScene();
});
afterAll(async () => {
  await scene?.close();
  collector.closeAllConnections();
  collector.close();
});

it("LangSmith's trace of a run has the run's own id, and says thread, account and attempt", async () => {
  const thread = scene.thread("poet");
  const outcome = await scene.service.runs.start(startRequest(thread, "Write about tides"));
  if (outcome.kind !== "started") throw new Error(outcome.kind);
  const { runId } = outcome.run;
  await scene.watch(thread, { kind: "run", runId, isNew: true }).ended;
  const of = (id: string) => ingested.filter((run) => run.id === id);
  await vi.waitUntil(() => of(runId).some(({ end_time }) => end_time != null), { timeout: 20_000 });
  const [root] = of(runId);
  expect(root).toMatchObject({ name: "langgraph:poet", trace_id: runId, run_type: "chain" });
  expect(root?.parent_run_id ?? null).toBeNull();
  expect(root?.extra?.metadata).toMatchObject({
    thread_id: thread.ref.threadId,
    throughline_run_id: runId,
    throughline_attempt: 0,
    throughline_account: "acme",
    throughline_trace_id: "trace-1",
  });
  // Its model calls are below it.
  const calls = ingested.filter(({ run_type }) => run_type === "llm");
  expect(calls.length).toBeGreaterThan(0);
  expect(calls.every(({ trace_id }) => trace_id === runId)).toBe(true);
});
