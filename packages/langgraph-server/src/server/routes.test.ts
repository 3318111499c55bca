import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { devCaller } from "../accounts/callers.js";
import { createScriptedProvider } from "../testing/scripted-provider.js";
import { isType, readEvents, type SseEvent, sseEvents, typesOf } from "../testing/sse-events.js";
import { startTestServer, type TestServer } from "../testing/test-server.js";

const BASE = "/api/copilotkit";
const hello = (threadId: string, more: object = {}) => ({
  threadId,
  messages: [{ id: `m-${threadId}`, role: "user", content: "hello" }],
  ...more,
});

const infoSchema = z.object({ mode: z.literal("sse"), agents: z.record(z.string(), z.unknown()) });

async function agentsOf(response: Response): Promise<string[]> {
  return Object.keys(infoSchema.parse(await response.json()).agents);
}

let server: TestServer;
beforeAll(async () => {
  const origins = ["https://app.example.com"];
  server = await startTestServer({ corsOrigins: origins, caller: devCaller({ origins }) });
});
afterAll(() => server.close());

describe("CopilotKit's routes", () => {
  it("list the seven agents by their stable ids", async () => {
    const info = await agentsOf(await fetch(`${server.url}${BASE}/info`));
    expect(info).toEqual(
      ["chat", "poet", "ponderer", "travel", "researcher", "sentinel", "approver"].map(
        (name) => `langgraph:${name}`,
      ),
    );
  });

  it("do the same in one envelope to the base path", async () => {
    expect(await agentsOf(await server.post(BASE, { method: "info" }))).toContain("langgraph:chat");
    const params = { agentId: "langgraph:poet" };
    const run = await readEvents(
      await server.post(BASE, { method: "agent/run", params, body: hello("single") }),
    );
    expect(typesOf(run).at(-1)).toBe("RUN_FINISHED");
    const connect = await server.post(BASE, {
      method: "agent/connect",
      params,
      body: { threadId: "single" },
    });
    expect(typesOf(await readEvents(connect))).toContain("MESSAGES_SNAPSHOT");
    const stop = await server.post(BASE, { method: "agent/stop", params: { ...params, threadId: "single" } });
    expect(await stop.json()).toEqual({ stopped: false, outcome: "idle" });
    expect((await server.post(BASE, { method: "agent/suggest", params })).status).toBe(404);
    expect((await server.post(BASE, {})).status).toBe(400);
  });

  it("take an agent by its id and by its plain name", async () => {
    for (const agent of ["poet", "langgraph:poet", encodeURIComponent("langgraph:poet")]) {
      const events = await readEvents(
        await server.post(`${BASE}/agent/${agent}/connect`, { threadId: "names" }),
      );
      expect(typesOf(events)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    }
  });

  it("resume a connect from Last-Event-ID or lastSeenEventId, and answer garbage with everything", async () => {
    const run = await readEvents(await server.post(`${BASE}/agent/poet/run`, hello("cursor")));
    const cut = run.findIndex(isType("TEXT_MESSAGE_CONTENT"));
    const id = run[cut]?.id ?? "";
    const path = `${BASE}/agent/poet/connect`;
    const byHeader = await readEvents(
      await server.post(path, { threadId: "cursor" }, { "last-event-id": id }),
    );
    const byField = await readEvents(await server.post(path, { threadId: "cursor", lastSeenEventId: id }));
    const left = run.slice(cut + 1).map((event) => event.id);
    for (const resumed of [byHeader, byField]) {
      expect(resumed.flatMap((event) => event.id ?? [])).toEqual(left);
      expect(typesOf(resumed)).not.toContain("STATE_SNAPSHOT");
    }
    for (const garbage of ["-1", "x", "0", "1.2.3.4", "a".repeat(400), `other.${id}`]) {
      const whole = await readEvents(
        await server.post(path, { threadId: "cursor" }, { "last-event-id": garbage }),
      );
      expect(typesOf(whole)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    }
  });

  it("attach the same run id to the same run", async () => {
    const body = hello("twice", { runId: "once" });
    const first = await readEvents(await server.post(`${BASE}/agent/poet/run`, body));
    const second = await readEvents(await server.post(`${BASE}/agent/poet/run`, body));
    expect(second.map(({ id }) => id)).toEqual(first.map(({ id }) => id));
  });

  it("answer a poll with the client's run id and nothing written", async () => {
    await readEvents(await server.post(`${BASE}/agent/poet/run`, hello("polled")));
    const poll = {
      threadId: "polled",
      runId: "p-1",
      forwardedProps: { throughline: { command: { name: "poll" } } },
    };
    const first = await readEvents(await server.post(`${BASE}/agent/poet/run`, poll));
    expect(typesOf(first)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    expect(first.at(0)?.data).toMatchObject({
      runId: "p-1",
      metadata: { throughline: { activeRunId: null, lastRun: { status: "success" } } },
    });
    expect(first.at(-1)?.data).toMatchObject({ runId: "p-1" });
    const again = await readEvents(await server.post(`${BASE}/agent/poet/run`, poll));
    expect(again).toEqual(first);
  });

  it("answer a poll that sends its cursor with what changed since, and no more", async () => {
    await readEvents(await server.post(`${BASE}/agent/poet/run`, hello("polled again")));
    const poll = async (lastSeenEventId?: string) =>
      readEvents(
        await server.post(`${BASE}/agent/poet/run`, {
          threadId: "polled again",
          runId: "p-1",
          ...(lastSeenEventId !== undefined && { lastSeenEventId }),
          forwardedProps: { throughline: { command: { name: "poll" } } },
        }),
      );
    const whole = await poll();
    const cursor = whole.at(-1)?.id;
    expect(typesOf(await poll(cursor))).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    await readEvents(await server.post(`${BASE}/agent/poet/run`, hello("polled again")));
    const changed = await poll(cursor);
    expect(typesOf(changed)).toContain("MESSAGES_SNAPSHOT");
    expect(changed.at(-1)?.id).not.toBe(cursor);
    expect(typesOf(await poll("no cursor of ours"))).toEqual(typesOf(whole));
  });

  it("tell a poller how the last run really ended", async () => {
    const failed = hello("polled failure", {
      forwardedProps: { throughline: { fork: { checkpointId: "none" } } },
    });
    await readEvents(await server.post(`${BASE}/agent/poet/run`, failed));
    const polled = await readEvents(
      await server.post(`${BASE}/agent/poet/run`, {
        threadId: "polled failure",
        runId: "p-2",
        forwardedProps: { throughline: { command: { name: "poll" } } },
      }),
    );
    expect(polled.at(0)?.data).toMatchObject({ metadata: { throughline: { lastRun: { status: "error" } } } });
  });

  it("pass a command to an agent that knows it, and refuse it for one that does not", async () => {
    const command = (name: string) => ({ forwardedProps: { throughline: { command: { name } } } });
    const hired = await readEvents(
      await server.post(`${BASE}/agent/sentinel/run`, { threadId: "guard", ...command("hire") }),
    );
    expect(typesOf(hired).at(-1)).toBe("RUN_FINISHED");
    const lost = await readEvents(
      await server.post(`${BASE}/agent/chat/run`, hello("guard", command("hire"))),
    );
    expect(lost.at(-1)?.data).toMatchObject({ type: "RUN_ERROR", code: "invalid_input" });
  });

  it("take no option they do not know, and drop what is not on the whitelist", async () => {
    const run = (forwardedProps: object) =>
      server.post(
        `${BASE}/agent/poet/run`,
        hello(`props-${JSON.stringify(forwardedProps).length}`, { forwardedProps }),
      );
    expect((await run({ throughline: { folow: true } })).status).toBe(400);
    const events = await readEvents(
      await run({
        config: { configurable: { thread_id: "someone-elses" } },
        threadMetadata: { a: 1 },
        nodeName: "x",
      }),
    );
    expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
    expect((await readEvents(await run({ throughline: { profile: "debug" } }))).at(-1)?.data).toMatchObject({
      code: "invalid_input",
    });
  });

  it("tell a browser of an allowed origin that it may read, on streams too", async () => {
    const origin = { origin: "https://app.example.com" };
    const stream = await server.post(`${BASE}/agent/poet/connect`, { threadId: "cors" }, origin);
    expect(stream.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    expect(typesOf(await readEvents(stream))).toEqual([
      "RUN_STARTED",
      "STATE_SNAPSHOT",
      "MESSAGES_SNAPSHOT",
      "RUN_FINISHED",
    ]);
    const preflight = await fetch(`${server.url}${BASE}/agent/poet/run`, {
      method: "OPTIONS",
      headers: {
        ...origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
      },
    });
    expect(preflight.status).toBe(204);
    const other = await server.post(
      `${BASE}/agent/poet/connect`,
      { threadId: "cors" },
      { origin: "https://evil.com" },
    );
    expect(other.headers.get("access-control-allow-origin")).toBeNull();
    await other.body?.cancel();
  });
});

describe("A request for a run", () => {
  it("names the dialect its graph's stream is read in", async () => {
    const provider = createScriptedProvider();
    const own = await startTestServer({ graphs: provider });
    const dialect = "events";
    try {
      const byAgUi = own.post(
        `${BASE}/agent/scripted/run`,
        hello("dialect", { forwardedProps: { throughline: { dialect } } }),
      );
      const first = await provider.nextRun();
      first.end();
      const byRuns = own.post("/runs", {
        accountId: "dev",
        runId: "svc-dialect",
        model: "default",
        messages: [{ role: "user", content: "hello" }],
        requestId: "req-1",
        traceId: "trace-1",
        graphName: "scripted",
        dialect,
      });
      const second = await provider.nextRun();
      second.end();
      await Promise.all([byAgUi, byRuns].map(async (answer) => readEvents(await answer)));
      expect([first.request.dialect, second.request.dialect]).toEqual([dialect, dialect]);
      const unknown = { forwardedProps: { throughline: { dialect: "v3" } } };
      expect((await own.post(`${BASE}/agent/scripted/run`, hello("unknown", unknown))).status).toBe(400);
    } finally {
      await own.close();
    }
  });
});

describe("POST /runs", () => {
  const request = (more: object = {}) => ({
    accountId: "dev",
    runId: "svc-1",
    model: "default",
    messages: [{ role: "user", content: "a line about rivers" }],
    requestId: "req-1",
    traceId: "trace-1",
    graphName: "poet",
    ...more,
  });

  it("streams AiEvents: text, then usage, then the final text, then done", async () => {
    const answer = await server.post("/runs", request());
    expect(answer.headers.get("x-request-id")).toBe("req-1");
    const events = await readEvents(answer);
    const kinds = events.map(({ event }) => event);
    expect(kinds.slice(-3)).toEqual(["usage_report", "assistant_final", "done"]);
    expect(new Set(kinds.slice(0, -3))).toEqual(new Set(["text_delta"]));
    expect(events.at(-1)?.data).toEqual({ type: "done" });
  });

  it("goes on with the thread a state key names", async () => {
    const turn = (runId: string) => request({ runId, stateKey: "shared", graphName: "chat" });
    await readEvents(await server.post("/runs", turn("svc-2")));
    await readEvents(await server.post("/runs", turn("svc-3")));
    const connect = await readEvents(await server.post(`${BASE}/agent/chat/connect`, { threadId: "shared" }));
    const snapshot = connect.find(isType("MESSAGES_SNAPSHOT"))?.data.messages;
    expect(snapshot).toHaveLength(4);
  });

  it("refuses another account to all but a trusted service, with a status", async () => {
    const refused = await server.post("/runs", request({ accountId: "other", runId: "svc-4" }));
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ code: "forbidden" });
    const trusted = await startTestServer({
      caller: {
        isSafeInPublic: true,
        resolve: async () => ({ billingAccountId: "backend", virtualKeyId: "vk", isTrustedService: true }),
      },
    });
    try {
      const events = await readEvents(await trusted.post("/runs", request({ accountId: "other" })));
      expect(events.at(-1)?.event).toBe("done");
      // What people of an account are asked is answered by them, not by a service of another account.
      const { messages: _, ...asked } = request({ accountId: "other", runId: "svc-5" });
      const answered = await trusted.post("/runs", { ...asked, answers: { q: "yes" } });
      expect(answered.status).toBe(403);
    } finally {
      await trusted.close();
    }
  });

  it("answers what it cannot start with HTTP statuses", async () => {
    const { runId: _, ...incomplete } = request();
    const missing = await server.post("/runs", incomplete);
    expect(missing.status).toBe(400);
    expect(await missing.json()).toMatchObject({ code: "invalid_input", details: { field: "runId" } });
    expect((await server.post("/runs", request({ graphName: "nobody" }))).status).toBe(404);
  });
});

describe("GET /agents/:id/threads/:name/events", () => {
  it("replays what is there marked as replay, and can be come back to", async () => {
    await readEvents(await server.post(`${BASE}/agent/poet/run`, hello("log")));
    const path = `${server.url}/agents/poet/threads/log/events`;
    const all = await readEvents(await fetch(`${path}?follow=false`));
    expect(typesOf(all).at(0)).toBe("run_start");
    expect(typesOf(all).at(-1)).toBe("run_end");
    expect(new Set(all.map(({ data }) => data.origin))).toEqual(new Set(["replay"]));
    expect(all.every(({ event, data }) => event === data.type)).toBe(true);
    const headers = { "last-event-id": all[2]?.id ?? "" };
    const rest = await readEvents(await fetch(`${path}?follow=false`, { headers }));
    expect(rest.map(({ id }) => id)).toEqual(all.slice(3).map(({ id }) => id));
  });

  it("stays open and tells what comes as live", async () => {
    const provider = createScriptedProvider();
    const own = await startTestServer({ graphs: provider });
    try {
      const run = (text: string) =>
        own.post(`${BASE}/agent/scripted/run`, {
          threadId: "live",
          messages: [{ id: text, role: "user", content: text }],
        });
      const first = run("one");
      (await provider.nextRun()).end();
      await readEvents(await first);
      const seen: SseEvent[] = [];
      for await (const event of sseEvents(await fetch(`${own.url}/agents/scripted/threads/live/events`))) {
        seen.push(event);
        if (event.data.type !== "run_end") continue;
        if (event.data.origin === "live") break;
        const next = run(`after ${seen.length}`);
        (await provider.nextRun()).end();
        await readEvents(await next);
      }
      expect(seen.find(isType("run_start"))?.data.origin).toBe("replay");
      expect(seen.findLast(isType("run_start"))?.data.origin).toBe("live");
    } finally {
      await own.close();
    }
  });
});

describe("the same routes as a plain fetch handler", () => {
  it("stream without Node's response", async () => {
    const ask = (path: string, body: object) =>
      server.handler.fetch(
        new Request(`http://localhost${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      );
    const run = await readEvents(await ask(`${BASE}/agent/poet/run`, hello("mounted")));
    expect(typesOf(run).at(-1)).toBe("RUN_FINISHED");
    const connect = await readEvents(await ask(`${BASE}/agent/poet/connect`, { threadId: "mounted" }));
    expect(typesOf(connect)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    const health = await server.handler.fetch(new Request("http://localhost/health"));
    expect(await health.json()).toMatchObject({ status: "ok" });
  });
});
