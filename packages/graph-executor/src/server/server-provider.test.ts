import { randomUUID } from "node:crypto";
import { type GraphFinal, systemClock, ThroughlineError, type UpstreamChunk } from "@throughline/ai-core";
import { read, readArray } from "@throughline/coerce";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GraphProvider } from "../provider.js";
import { createServerClient } from "./client.js";
import { createRunMaker } from "./create-run.js";
import { createLangGraphDevProvider, DEFAULT_PATIENCE } from "./executor.js";
import { followRun } from "./follow-run.js";
import { type DevServer, startDevServer } from "./testing/dev-server.js";
import { readToEnd, runRequest, textOf } from "./testing/run-request.js";

let server: DevServer;
let provider: GraphProvider;
/** Another client of the same server. */
let outsider: ReturnType<typeof createServerClient>;

beforeAll(async () => {
  server = await startDevServer();
  provider = createLangGraphDevProvider({ url: server.url, busyMs: 200 });
  outsider = createServerClient({ url: server.url });
}, 60_000);
afterAll(() => server?.stop());

describe("a run on a LangGraph server", () => {
  it("streams its tokens and ends with what the checkpoint holds", async () => {
    const request = runRequest();
    const { chunks, final } = await readToEnd(provider.runGraph(request));
    expect(final).toMatchObject({ ok: true, status: "success", interrupts: [] });
    expect(final.messages?.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(textOf(chunks)).toBe(final.messages?.[1]?.content);
    const run = await outsider.runs.get(request.threadId, final.upstreamRunId ?? "");
    expect(run).toMatchObject({ status: "success", metadata: { throughline_run: request.runId } });
    const { checkpointId, runId } = (await provider.getState(request)) ?? {};
    expect({ checkpointId, runId }).toEqual({ checkpointId: final.checkpointId, runId: request.runId });
  });

  it("asks, is answered by interrupt id, and asks again", async () => {
    const first = runRequest({ graphId: "langgraph:travel", text: "Plan a trip to San Francisco." });
    const { final } = await readToEnd(provider.runGraph(first));
    expect(final).toMatchObject({ ok: true, status: "interrupted" });
    const [flights] = final.interrupts;
    expect(flights).toMatchObject({
      node: "choose_flight",
      ns: [/^flights_agent:/, /^choose_flight:/].map((segment) => expect.stringMatching(segment)),
    });
    const answers = { [flights?.interrupt_id ?? ""]: "KLM" };
    const { threadId } = first;
    const second = runRequest({ graphId: first.graphId, threadId, start: { kind: "resume", answers } });
    const { final: next } = await readToEnd(provider.runGraph(second));
    expect(next.interrupts).toMatchObject([{ node: "choose_hotel" }]);

    const again = runRequest({ graphId: first.graphId, threadId, start: { kind: "resume", answers } });
    const { final: refused } = await readToEnd(provider.runGraph(again));
    expect(refused).toMatchObject({ ok: false, status: "error", error: { code: "conflict" } });
  });

  it("is stopped mid-token, and the thread takes the next run at once", async () => {
    const stop = new AbortController();
    const request = runRequest({ signal: stop.signal });
    const { chunks, final } = await readToEnd(provider.runGraph(request), (_, position) => {
      if (position === 8) stop.abort();
    });
    expect(final).toMatchObject({ ok: false, status: "cancelled", error: { code: "cancelled" } });
    expect(chunks.length).toBeLessThan(60);
    const next = await readToEnd(provider.runGraph(runRequest({ threadId: request.threadId })));
    expect(next.final.status).toBe("success");
  });

  it("is stopped before it has begun", async () => {
    const stop = new AbortController();
    const result = provider.runGraph(runRequest({ signal: stop.signal }));
    stop.abort();
    const { final } = await readToEnd(result);
    expect(final.status).toBe("cancelled");
  });

  it("is stopped when its reader leaves", async () => {
    const request = runRequest();
    const result = provider.runGraph(request);
    for await (const _ of result.stream) break;
    const { status, upstreamRunId } = await result.final;
    expect(status).toBe("cancelled");
    expect(await outsider.runs.get(request.threadId, upstreamRunId ?? "")).toMatchObject({
      status: "interrupted",
    });
  });

  it("goes on upstream when its driver's lease is lost, and another driver reads it whole", async () => {
    const lease = new AbortController();
    const request = runRequest({ signal: lease.signal });
    const lost = await readToEnd(provider.runGraph(request), (_, position) => {
      if (position === 8) lease.abort(new ThroughlineError("conflict", "The lease was lost."));
    });
    expect(lost.final).toMatchObject({ status: "error", error: { code: "conflict" } });
    const { start, ...same } = request;
    if (start.kind === "continue") throw new Error("not this one");
    const taken = runRequest({
      ...same,
      attempt: 1,
      signal: new AbortController().signal,
      start: { kind: "continue", original: start },
    });
    const { chunks, final } = await readToEnd(provider.runGraph(taken));
    expect(final).toMatchObject({ status: "success", upstreamRunId: lost.final.upstreamRunId });
    const live = (chunk: UpstreamChunk) => ({ ...chunk, origin: "live" });
    expect(lost.chunks).toEqual(lost.chunks.map(live));
    expect(chunks.slice(0, lost.chunks.length).map(live)).toEqual(lost.chunks);
    // P6: what the first driver read is replayed, and what came after it is news.
    const origins = chunks.map(({ origin }) => origin);
    expect(origins.indexOf("live")).toBeGreaterThanOrEqual(lost.chunks.length);
    expect(origins.lastIndexOf("replay")).toBe(origins.indexOf("live") - 1);
    expect(textOf(chunks)).toBe(final.messages?.[1]?.content);
  });

  it("fails without a word of the upstream's", async () => {
    const request = runRequest({
      graphId: "langgraph:sentinel",
      start: { kind: "input", messages: [], state: { command: { name: "dance" } } },
    });
    const { final } = await readToEnd(provider.runGraph(request));
    expect(final).toMatchObject({ ok: false, status: "error" });
    expect(final.error?.message).not.toContain("dance");
  });

  it("is refused for input the graph can't take", async () => {
    const request = runRequest({
      graphId: "langgraph:sentinel",
      start: { kind: "input", messages: [], state: { settings: "none" } },
    });
    const { final } = await readToEnd(provider.runGraph(request));
    expect(final).toMatchObject({ ok: false, status: "error", error: { code: "invalid_input" } });
  });

  it("is refused for a graph that is not there", async () => {
    const { final } = await readToEnd(provider.runGraph(runRequest({ graphId: "langgraph:nobody" })));
    expect(final.error).toMatchObject({
      code: "not_found",
      message: expect.stringMatching(/^Unknown agent "nobody". Available: approver, chat, poet, /),
    });
  });
});

describe("a log on a LangGraph server", () => {
  it("is read on after a given event, without the run's metadata", async () => {
    const { thread_id: threadId } = await outsider.threads.create();
    const { run_id: upstreamRunId } = await outsider.runs.create(threadId, "poet", {
      input: { messages: [{ type: "human", id: "h1", content: "A poem" }] },
      streamMode: ["messages-tuple"],
      streamResumable: true,
    });
    const never = new AbortController().signal;
    const events = followRun(
      { threadId, upstreamRunId },
      {
        client: outsider,
        clock: systemClock,
        patience: DEFAULT_PATIENCE,
        stop: never,
        leave: never,
        after: "8",
      },
    );
    const ids: (string | undefined)[] = [];
    for await (const { id, event } of events) {
      expect(event).not.toBe("metadata");
      ids.push(id);
    }
    expect(ids.length).toBeGreaterThan(10);
    expect(ids).toEqual(ids.map((_, index) => String(index + 9)));
  });
});

describe("what a LangGraph server keeps of a run for later ones of its thread", () => {
  const configurableOf = async (threadId: string, upstreamRunId = "") => {
    const run: unknown = await outsider.runs.get(threadId, upstreamRunId);
    return read(read(read(run, "kwargs"), "config"), "configurable");
  };
  const lifecycleLog = (final: GraphFinal) =>
    readArray(final.state, "log").map((entry) => read(entry, "command"));

  it("is not its command: a run without one does nothing again", async () => {
    const hire = runRequest({
      graphId: "langgraph:sentinel",
      start: { kind: "input", messages: [] },
      command: { name: "hire" },
    });
    const { threadId } = hire;
    expect(lifecycleLog((await readToEnd(provider.runGraph(hire))).final)).toEqual(["hire"]);
    const ask = runRequest({ graphId: hire.graphId, threadId, text: "How are you?" });
    const { final } = await readToEnd(provider.runGraph(ask));
    expect(final.status).toBe("success");
    expect(lifecycleLog(final)).toEqual(["hire"]);
    expect(final.messages?.at(-1)?.role).toBe("assistant");
    expect(await configurableOf(threadId, final.upstreamRunId)).toMatchObject({ command: null });
  });

  it("is not in whose name it ran: a foreign run gets nothing that identifies ours", async () => {
    const ours = runRequest({ attempt: 3 });
    const { final } = await readToEnd(provider.runGraph(ours));
    const run = await outsider.runs.get(ours.threadId, final.upstreamRunId ?? "");
    expect(read(run.metadata, "throughline_identity")).toEqual({
      runId: ours.runId,
      attempt: 3,
      billingAccountId: "acme",
      virtualKeyId: "key-1",
      ingressRequestId: "ingress-1",
      traceId: "trace-1",
      executorType: "langgraph_server",
    });
    const foreign = await outsider.runs.create(ours.threadId, "poet", {
      input: { messages: [{ type: "human", id: "h2", content: "Another" }] },
    });
    await outsider.runs.join(ours.threadId, foreign.run_id);
    const later = await outsider.runs.get(ours.threadId, foreign.run_id);
    expect(later.status).toBe("success");
    for (const id of ["key-1", "acme", "ingress-1", "trace-1", ours.runId]) {
      expect(JSON.stringify(later)).not.toContain(id);
    }
  });
});

describe("a thread that can't take a run", () => {
  it("is busy with a run of ours, which is named", async () => {
    const stop = new AbortController();
    const first = runRequest({ signal: stop.signal });
    const running = provider.runGraph(first);
    const iterator = running.stream[Symbol.asyncIterator]();
    await iterator.next();
    const { final } = await readToEnd(provider.runGraph(runRequest({ threadId: first.threadId })));
    expect(final.error).toMatchObject({ code: "busy", details: { runId: first.runId, retryAfterMs: 200 } });
    stop.abort();
    await iterator.return?.();
    expect((await running.final).status).toBe("cancelled");
  });

  it("is busy with a delayed run of somebody else, until that is cancelled", async () => {
    const { thread_id: threadId } = await outsider.threads.create();
    const pending = await outsider.runs.create(threadId, "poet", {
      input: { messages: [] },
      afterSeconds: 60,
    });
    const { final } = await readToEnd(provider.runGraph(runRequest({ threadId })));
    expect(final.error).toMatchObject({ code: "busy", details: { runId: pending.run_id } });
    await outsider.runs.cancel(threadId, pending.run_id);
    const { final: next } = await readToEnd(provider.runGraph(runRequest({ threadId })));
    expect(next.status).toBe("success");
  });

  it("is told apart from a thread that does not exist", async () => {
    const order = {
      runId: randomUUID(),
      attempt: 0,
      threadId: randomUUID(),
      graphName: "poet",
      start: { input: null },
      dialect: "modes" as const,
      configurable: {},
      metadata: {},
      config: {},
      context: {},
    };
    const options = { client: outsider, clock: systemClock, connectMs: 1_000, busyMs: 1_000 };
    await expect(createRunMaker(options)(order)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("a thread's state on a LangGraph server", () => {
  it("has a history that is read page by page", async () => {
    const request = runRequest();
    await readToEnd(provider.runGraph(request));
    const all = await provider.history(request, { limit: 10 });
    const ids = all.map(({ checkpointId }) => checkpointId);
    const before = ids[0];
    expect(ids.length).toBeGreaterThan(1);
    const rest = await provider.history(request, { limit: 10, ...(before !== undefined && { before }) });
    expect(rest.map(({ checkpointId }) => checkpointId)).toEqual(ids.slice(1));
  });

  it("forks without bending the runs that come after, whoever starts them", async () => {
    const first = runRequest({ text: "one" });
    const { threadId } = first;
    const { checkpointId = "" } = (await readToEnd(provider.runGraph(first))).final;
    await readToEnd(provider.runGraph(runRequest({ threadId, text: "two" })));
    const messages = [{ id: randomUUID(), role: "user" as const, content: "another two" }];
    const fork = runRequest({ threadId, start: { kind: "fork", checkpointId, messages } });
    const { final } = await readToEnd(provider.runGraph(fork));
    const users = (list = final.messages) =>
      list?.filter(({ role }) => role === "user").map(({ content }) => content);
    expect(users()).toEqual(["one", "another two"]);
    await outsider.runs.wait(threadId, "poet", {
      input: { messages: [{ type: "human", id: "h3", content: "three" }] },
    });
    expect(users((await provider.getState(first))?.messages?.slice())).toEqual([
      "one",
      "another two",
      "three",
    ]);
  });

  it("is written from outside a run, also where no run has been", async () => {
    const thread = { graphId: "langgraph:poet", threadId: randomUUID() };
    const checkpointId = await provider.updateState(thread, {
      messages: [{ id: "m1", role: "user", content: "Hello" }],
    });
    expect(await provider.getState(thread)).toMatchObject({ checkpointId, messages: [{ id: "m1" }] });
    await provider.deleteThread(thread);
    expect(await provider.getState(thread)).toBeUndefined();
    await provider.deleteThread(thread);
  });
});

describe("the agents of a LangGraph server", () => {
  it("are its graphs, with their schemas", async () => {
    const agents = await provider.listAgents();
    expect(agents.map(({ graphId }) => graphId)).toContain("langgraph:travel");
    expect(await provider.getAgent("langgraph:chat")).toMatchObject({
      graphName: "chat",
      capabilities: ["chat"],
      inputSchema: { properties: { messages: {} } },
    });
    expect(await provider.getAgent("langgraph:nobody")).toBeUndefined();
  });
});

describe("a server that is not there", () => {
  it("is said to be unreachable, within the time given", async () => {
    const nobody = createLangGraphDevProvider({ url: "http://127.0.0.1:1", connectMs: 100 });
    const { final } = await readToEnd(nobody.runGraph(runRequest()));
    expect(final).toMatchObject({ ok: false, status: "error", error: { code: "upstream_unavailable" } });
    await expect(nobody.listAgents()).rejects.toMatchObject({ code: "upstream_unavailable" });
  });
});
