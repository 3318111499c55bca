import { Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readEvents } from "../testing/sse-events.js";
import { startTestServer, type TestServer } from "../testing/test-server.js";
import { createLogger } from "./logging.js";

const lines: string[] = [];
const destination = new Writable({
  write(chunk, _, done) {
    lines.push(...String(chunk).trim().split("\n"));
    done();
  },
});
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ logger: createLogger({ level: "debug", destination }), version: "1.2.3" });
});
afterAll(() => server.close());

describe("operations", () => {
  it("says that the process lives and that it can take work", async () => {
    const health = await fetch(`${server.url}/health`);
    expect(await health.json()).toEqual({ status: "ok", version: "1.2.3" });
    expect(await (await fetch(`${server.url}/ready`)).json()).toEqual({ status: "ready" });
  });

  it("takes over a request id and a trace, gives them back, and makes them where they are missing or malformed", async () => {
    const sent = { "x-request-id": "req-7", traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
    const kept = await fetch(`${server.url}/health`, { headers: sent });
    expect(kept.headers.get("x-request-id")).toBe("req-7");
    expect(kept.headers.get("traceparent")).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    const made = await fetch(`${server.url}/health`, {
      headers: { "x-request-id": "a b", traceparent: "nonsense" },
    });
    expect(made.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(made.headers.get("traceparent")).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });

  it("carries the trace into the log of the thread", async () => {
    const run = { threadId: "traced", messages: [{ id: "1", role: "user", content: "hello" }] };
    const headers = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
    await readEvents(await server.post("/api/copilotkit/agent/poet/run", run, headers));
    const log = await readEvents(await fetch(`${server.url}/agents/poet/threads/traced/events?follow=false`));
    expect(new Set(log.map(({ data }) => data.trace_id))).toEqual(new Set([TRACE]));
  });

  it("counts runs, watchers and refusals for Prometheus, without a tenant in any label", async () => {
    const headers = { "x-throughline-account": "very-private-account" };
    const run = { threadId: "private-thread", messages: [{ id: "1", role: "user", content: "hello" }] };
    await readEvents(await server.post("/api/copilotkit/agent/poet/run", run, headers));
    const text = await (await fetch(`${server.url}/metrics`)).text();
    expect(text).toMatch(
      /throughline_runs_started_total\{graph="langgraph:poet",service="throughline"\} [1-9]/,
    );
    expect(text).toMatch(
      /throughline_runs_ended_total\{graph="langgraph:poet",status="success",service="throughline"\} [1-9]/,
    );
    for (const name of [
      "active_runs",
      "busy_total",
      "replays_total",
      "appends_refused_total",
      "open_calls_older_than",
      "runs_ended_without_completion_total",
      "watchers",
      "gaps_total",
      "slow_readers_dropped_total",
      "recoveries_total",
      "event_loop_lag_p99_seconds",
    ]) {
      expect(text).toContain(`throughline_${name}`);
    }
    expect(text).not.toMatch(/very-private-account|private-thread/);
  });

  it("logs each request with its ids, and neither tokens nor what people say", async () => {
    const run = { threadId: "spoken", messages: [{ id: "1", role: "user", content: "my-private-words" }] };
    const headers = { authorization: "Bearer my-private-token", "x-request-id": "req-log" };
    await readEvents(await server.post("/api/copilotkit/agent/poet/run", run, headers));
    const log = lines.map((line) => JSON.parse(line));
    expect(log.find(({ requestId }) => requestId === "req-log")).toMatchObject({
      msg: "answered",
      status: 200,
      route: "POST /api/copilotkit/agent/:agentId/run",
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(lines.join("\n")).not.toMatch(/my-private/);
  });

  it("names the run, its account and its trace on every line about a run, from start to end", async () => {
    const run = { threadId: "lines", messages: [{ id: "1", role: "user", content: "my-private-words" }] };
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const headers = { traceparent: `00-${trace}-b7ad6b7169203331-01`, "x-throughline-account": "acme" };
    await readEvents(await server.post("/api/copilotkit/agent/poet/run", run, headers));
    const about = () => lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.startsWith("run "));
    await vi.waitUntil(() => about().some(({ traceId, msg }) => traceId === trace && msg === "run ended"));
    const ours = about().filter(({ traceId }) => traceId === trace);
    expect(ours.map(({ msg, status }) => [msg, status])).toEqual([
      ["run started", undefined],
      ["run ended", "success"],
    ]);
    for (const line of ours) {
      expect(line).toMatchObject({ account: "acme", graphId: "langgraph:poet", attempt: 0 });
      expect(line.runId).toBe(ours[0].runId);
      expect(line).not.toHaveProperty("traceparent");
    }
  });

  it("leaves out secrets and words even where somebody logs them by mistake", () => {
    const mistaken: string[] = [];
    const logger = createLogger({
      level: "info",
      destination: { write: (line: string) => void mistaken.push(line) },
    });
    logger.info(
      { headers: { authorization: "hush-1" }, body: { messages: ["hush-2"] }, token: "hush-3" },
      "oops",
    );
    logger.error({ err: new Error("Bearer hush-4") }, "failed");
    expect(mistaken.join("")).not.toContain("hush");
  });
});
