import { createMemoryCheckpointer } from "@throughline/graph-executor";
import { createMemoryDatabase } from "@throughline/thread-log";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ofType } from "../testing/frame-recorder.js";
import { openServiceScene, type ServiceScene, startRequest } from "../testing/service-scene.js";
import { type RunLabels, runLabelsOf, type ServiceObserver } from "./observer.js";

describe("A run that is taken over", () => {
  const shared = { database: createMemoryDatabase(), checkpointer: createMemoryCheckpointer() };
  const told: [what: string, run: RunLabels][] = [];
  const calls = new Map<string, number>();
  let a: ServiceScene;
  let b: ServiceScene;

  const observer: Partial<ServiceObserver> = {
    runStarted: (run) => void told.push(["started", run]),
    recovered: (run) => void told.push(["taken over", run]),
    runLeft: (run) => void told.push(["left", run]),
    runEnded: (run) => void told.push(["ended", run]),
    callStarted: (run, { callId }) => void calls.set(`${run.attempt}/${callId}`, 1),
    callEnded: (run, { callId }) => void calls.delete(`${run.attempt}/${callId}`),
  };
  beforeEach(async () => {
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "5");
    a = await openServiceScene({ store: { kind: "memory", shared }, observer });
    b = await openServiceScene({ store: { kind: "memory", shared }, observer });
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await Promise.all([a.close(), b.close()]);
  });

  it("keeps its names and its trace on every instance, and reports what all its attempts used", async () => {
    const thread = a.thread("chat");
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const outcome = await a.service.runs.start(
      startRequest(thread, "First 6*7, then tell me", { traceparent }),
    );
    if (outcome.kind !== "started") throw new Error(outcome.kind);
    const { runId } = outcome.run;
    const watching = b.watch(thread, { kind: "run", runId }, { face: { kind: "ai-events" } });
    await watching.frame(({ event }) => event === "tool_call_result");
    const row = shared.database.runs.get(runId);
    if (row) row.leaseUntil = 0;
    await b.service.runs.reap();
    await watching.ended;
    await vi.waitUntil(
      () => told.some(([what]) => what === "left") && told.some(([what]) => what === "ended"),
    );

    const names = { runId, graphId: "langgraph:chat", account: "acme", traceId: "trace-1", traceparent };
    for (const [, run] of told) expect(run).toMatchObject(names);
    expect(told.filter(([what]) => what !== "left").map(([what, { attempt }]) => [what, attempt])).toEqual([
      ["started", 0],
      ["taken over", 1],
      ["started", 1],
      ["ended", 1],
    ]);
    expect([...calls.keys()].filter((call) => call.startsWith("1/"))).toEqual([]);

    const log = b.watch(thread, { kind: "nothing" }, { face: { kind: "envelopes" } });
    await log.ended;
    const ends = log.frames.filter(ofType("llm_end")).map(({ data }) => data);
    expect(new Set(ends.map(({ attempt }) => attempt))).toEqual(new Set([0, 1]));
    const used = ends.reduce((sum, { payload }) => sum + (usageOf(payload)?.output_tokens ?? 0), 0);
    const report = watching.frames.find(({ event }) => event === "usage_report");
    expect(report?.data).toMatchObject({ outputTokens: used });
  });
});

function usageOf(payload: unknown): { readonly output_tokens: number } | undefined {
  return JSON.parse(JSON.stringify(payload)).usage ?? undefined;
}

it("A run whose row can't be read is named all the same", () => {
  const row = {
    thread: { account: "acme", threadId: "t" },
    runId: "r",
    alias: undefined,
    graphId: "langgraph:chat",
    origin: { kind: "client" },
    status: "running",
    start: undefined,
    request: { caller: "broken" },
    attempt: 2,
    crashes: 0,
    owner: undefined,
    token: 0n,
    leaseUntil: undefined,
    upstreamRunId: undefined,
    stopRequested: false,
    createdAt: 0,
    endedAt: undefined,
  } as const;
  expect(runLabelsOf(row)).toEqual({
    runId: "r",
    graphId: "langgraph:chat",
    account: "acme",
    traceId: "unknown",
    attempt: 2,
    traceparent: undefined,
  });
});
