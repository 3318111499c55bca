import { describe, expect, it } from "vitest";
import type { Command } from "../commands/command.js";
import type { SseText } from "./event-stream.js";
import { createHttpService, type HttpServiceOptions } from "./http-agent-service.js";

const THREAD = { agentId: "langgraph:poet", threadId: "a/b" };
const NOTHING = { tools: [], context: [] };

interface Asked {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** A fetch whose answers are given, in order. */
function answering(...answers: readonly (Response | Error)[]) {
  const asked: Asked[] = [];
  const left = [...answers];
  const fetch: HttpServiceOptions["fetch"] = async (input, init) => {
    const request = new Request(new URL(String(input), "http://service.test"), init);
    const text = await request.text();
    asked.push({
      url: request.url,
      method: request.method,
      headers: request.headers,
      body: text === "" ? {} : JSON.parse(text),
    });
    const answer = left.shift();
    if (answer === undefined) throw new Error("Nobody expected this request.");
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, fetch };
}

function sse(...pieces: readonly string[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const data = (event: object, id?: string, name?: string | number) =>
  `${name === undefined ? "" : `event: ${name}\n`}${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`;
const refused = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ code, message: `It is ${code}.` }, { status, headers });

function listen() {
  const received: unknown[] = [];
  return {
    received,
    sink: {
      opened: () => received.push("opened"),
      received: () => received.push("received"),
      events: (at: number, events: readonly SseText[]) =>
        received.push([at, events.map(({ id, data }) => [id, data])]),
      ended: (at: number, failure: object) => received.push([at, failure]),
    },
  };
}

describe("a connection", () => {
  it("asks for everything the client reads, and goes on from each thread's cursor", async () => {
    const { asked, fetch } = answering(sse());
    const service = createHttpService({ url: "/api/copilotkit/", fetch });
    await service.follow(
      [
        { ...THREAD, view: "ag-ui", cursor: "c1" },
        { ...THREAD, view: "envelopes", cursor: undefined },
      ],
      new AbortController().signal,
      listen().sink,
    );
    expect(asked[0]?.url).toBe("http://service.test/api/copilotkit/follow");
    expect(asked[0]?.body).toEqual({
      calls: true,
      interrupts: "standard",
      subscriptions: [
        { ...THREAD, view: "ag-ui", cursor: "c1" },
        { ...THREAD, view: "envelopes" },
      ],
    });
  });

  it("asks for attachments as links where that is said", async () => {
    const { asked, fetch } = answering(sse());
    const service = createHttpService({ url: "/", fetch, links: true });
    await service.follow(
      [{ ...THREAD, view: "ag-ui", cursor: undefined }],
      new AbortController().signal,
      listen().sink,
    );
    expect(asked[0]?.body).toMatchObject({ links: true });
  });

  it("names whose thread it means in every request, where that is said", async () => {
    const { asked, fetch } = answering(sse(), sse(), Response.json({}), sse());
    const service = createHttpService({ url: "/", fetch });
    const shared = { ...THREAD, visibility: "account" } as const;
    const { signal } = new AbortController();
    await service.follow([{ ...shared, view: "ag-ui", cursor: undefined }], signal, listen().sink);
    await service.send(shared, { kind: "run", id: "r", input: {}, busy: { kind: "reject" } }, NOTHING);
    await service.stop(shared, undefined);
    await service.poll(shared, undefined);
    const named = asked.map(({ body }) => JSON.stringify(body).includes('"visibility":"account"'));
    expect(named).toEqual([true, true, true, true]);
  });

  it("hears every piece, heartbeats too, and gives the events of one read and thread together, as they came", async () => {
    const started = { type: "RUN_STARTED", threadId: "t", runId: "r" };
    const step = { type: "STEP_STARTED", stepName: "é" };
    const whole =
      data(started, undefined, 0) + data(step, "c1", 0) + data({ type: "run_start" }, "e.1.0.log", 1);
    const gone = data(
      { subscription: 1, status: 404, code: "not_found", message: "Gone." },
      undefined,
      "end",
    );
    const { fetch } = answering(
      sse(": here\n\n", whole.slice(0, 10), whole.slice(10), "event: 0\ndata: not json\n\n", gone),
    );
    const { received, sink } = listen();
    const end = await createHttpService({ url: "/", fetch }).follow(
      [
        { ...THREAD, view: "ag-ui", cursor: undefined },
        { ...THREAD, view: "envelopes", cursor: undefined },
      ],
      new AbortController().signal,
      sink,
    );
    expect(received).toEqual([
      "opened",
      "received",
      "received",
      "received",
      [
        0,
        [
          [undefined, JSON.stringify(started)],
          ["c1", JSON.stringify(step)],
        ],
      ],
      [1, [["e.1.0.log", '{"type":"run_start"}']]],
      "received",
      [0, [[undefined, "not json"]]],
      "received",
      [1, { kind: "refused", status: 404, code: "not_found", message: "Gone." }],
    ]);
    expect(end).toEqual({ kind: "ended" });
  });

  it.each([
    ["a refusal", refused(429, "rate_limited", { "retry-after": "7" }), 7_000],
    ["an answer that is nobody's JSON", new Response("<html>", { status: 502 }), undefined],
  ])("that meets %s says so", async (_, answer, retryAfterMs) => {
    const { fetch } = answering(answer);
    const { received, sink } = listen();
    const end = await createHttpService({ url: "/", fetch }).follow(
      [{ ...THREAD, view: "ag-ui", cursor: undefined }],
      new AbortController().signal,
      sink,
    );
    expect(end).toMatchObject({ kind: "failed", failure: { kind: "refused", status: answer.status } });
    if (retryAfterMs !== undefined) expect(end).toMatchObject({ failure: { retryAfterMs } });
    expect(received).toEqual([]);
  });
});

describe("credentials", () => {
  it("are asked for anew, once, when the service refuses them", async () => {
    const { asked, fetch } = answering(refused(401, "unauthorized"), Response.json({ agents: {} }));
    const renewals: boolean[] = [];
    const service = createHttpService({
      url: "/",
      fetch,
      headers({ isRenewal }) {
        renewals.push(isRenewal);
        return { authorization: isRenewal ? "new" : "old" };
      },
    });
    expect(await service.agents()).toEqual([]);
    expect(renewals).toEqual([false, true]);
    expect(asked.map(({ headers }) => headers.get("authorization"))).toEqual(["old", "new"]);
  });

  it("are not renewed for a page of somebody else: one send is one request", async () => {
    const { asked, fetch } = answering(refused(401, "signed_in_as_other"));
    const service = createHttpService({ url: "/", fetch, headers: () => ({ authorization: "x" }) });
    const command: Command = { kind: "run", id: "r", input: {}, busy: { kind: "reject" } };
    expect(await service.send(THREAD, command, NOTHING)).toMatchObject({ code: "signed_in_as_other" });
    expect(asked).toHaveLength(1);
  });

  it("are final when there is nobody to renew them", async () => {
    const { asked, fetch } = answering(refused(401, "unauthorized"));
    const service = createHttpService({ url: "/", fetch });
    expect(await service.agents()).toMatchObject({ kind: "refused", status: 401, code: "unauthorized" });
    expect(asked).toHaveLength(1);
    expect(await service.renew()).toBe(false);
  });
});

describe("a command", () => {
  const run: Command = {
    kind: "run",
    id: "r1",
    busy: { kind: "reject" },
    input: { messages: [{ id: "m", role: "user", content: "hi" }] },
  };
  const began = data({ type: "RUN_STARTED", runId: "r1", metadata: { throughline: { runId: "s1" } } }, "c1");
  const cancelled = data({
    type: "RUN_FINISHED",
    runId: "r1",
    outcome: { type: "cancelled" },
    metadata: { throughline: { runId: "s1", status: "cancelled" } },
  });
  const refusal = (code: string, details?: object) =>
    data({ type: "RUN_STARTED", runId: "r1" }) +
    data({ type: "RUN_ERROR", code, message: "No.", metadata: { throughline: { hint: "", details } } });

  it.each([
    ["a run that began", sse(began), { kind: "accepted", serviceRunId: "s1" }],
    [
      "a run that a stop had been waiting for",
      sse(`${began}${cancelled}`),
      { kind: "accepted", serviceRunId: "s1", isCancelled: true },
    ],
    [
      "another run in the way",
      sse(refusal("busy", { runId: "other", retryAfterMs: 250 })),
      { kind: "busy", runId: "other", retryAfterMs: 250 },
    ],
    ["another run in the way, by a status", refused(409, "busy"), { kind: "busy" }],
    [
      "a refusal",
      sse(refusal("interrupt_pending")),
      { kind: "refused", code: "interrupt_pending", message: "No." },
    ],
    ["a service that goes down", sse(refusal("shutting_down")), { kind: "unreachable" }],
    ["a service that is overloaded", refused(503, "shutting_down"), { kind: "unreachable" }],
    ["too many requests", refused(429, "rate_limited"), { kind: "unreachable" }],
    [
      "a bad request",
      refused(400, "invalid_input"),
      { kind: "refused", code: "invalid_input", message: "It is invalid_input." },
    ],
    ["a broken network", new TypeError("fetch failed"), { kind: "unreachable" }],
    ["an answer that breaks off", sse(began.slice(0, 20)), { kind: "unreachable" }],
    [
      "a refusal in two pieces",
      sse(data({ type: "RUN_STARTED", runId: "r1" }), refusal("busy")),
      { kind: "busy" },
    ],
  ])("is answered by %s", async (_, answer, outcome) => {
    const { fetch } = answering(answer);
    expect(await createHttpService({ url: "/", fetch }).send(THREAD, run, NOTHING)).toEqual(
      expect.objectContaining(outcome),
    );
  });

  it("carries its input, and what kind of wish it is", async () => {
    const { asked, fetch } = answering(sse(began), sse(began), sse(began));
    const service = createHttpService({ url: "/", fetch });
    await service.send(THREAD, { kind: "sync", id: "s", input: { state: { n: 1 } } }, NOTHING);
    await service.send(THREAD, { kind: "fire", id: "f", input: { command: { name: "fire" } } }, NOTHING);
    await service.send(THREAD, { ...run, input: { answers: { q1: "yes" } } }, NOTHING);
    expect(asked[0]?.body).toMatchObject({
      runId: "s",
      state: { n: 1 },
      forwardedProps: { throughline: { command: { name: "sync", clientMutationId: "s" } } },
    });
    expect(asked[1]?.body).toMatchObject({
      forwardedProps: { throughline: { strategy: "preempt", command: { name: "fire" } } },
    });
    expect(asked[2]?.body).toMatchObject({
      resume: [{ interruptId: "q1", status: "resolved", payload: "yes" }],
    });
  });

  it("does not wait for a connection that was cut and never says so", async () => {
    const deaf = (piece: string) =>
      new Response(
        new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(new TextEncoder().encode(piece)),
        }),
      );
    const answers = answering(deaf(refusal("busy")), deaf(": nobody knows yet\n\n"));
    const service = createHttpService({ url: "/api", fetch: answers.fetch, timeoutMs: 20 });
    expect(await service.send(THREAD, run, NOTHING)).toMatchObject({ kind: "busy" });
    expect(await service.send(THREAD, run, NOTHING)).toEqual({ kind: "unreachable" });
  });
});

describe("the rest", () => {
  it("stops by the id the client gave", async () => {
    const { asked, fetch } = answering(Response.json({ stopped: true }), refused(500, "internal"));
    const service = createHttpService({ url: "/", fetch });
    expect(await service.stop(THREAD, "r1")).toBe(true);
    expect(asked[0]?.url).toBe("http://service.test/agent/langgraph%3Apoet/stop/a%2Fb");
    expect(asked[0]?.body).toEqual({ runId: "r1" });
    expect(await service.stop(THREAD, undefined)).toBe(false);
  });

  it("polls with a run that is none, and gives its frames once they are all there", async () => {
    const frames = [
      { type: "RUN_STARTED", runId: "p", metadata: { throughline: { poll: true, activeRunId: null } } },
      { type: "STATE_SNAPSHOT", snapshot: { n: 1 } },
      { type: "RUN_FINISHED", runId: "p" },
    ];
    const { asked, fetch } = answering(
      sse(...frames.map((event) => data(event))),
      sse(data({ type: "RUN_STARTED" })),
    );
    const service = createHttpService({ url: "/", fetch });
    expect(await service.poll(THREAD, "c7")).toMatchObject(
      frames.map((event) => ({ data: JSON.stringify(event) })),
    );
    expect(asked[0]?.headers.get("last-event-id")).toBe("c7");
    expect(asked[0]?.body).toMatchObject({ forwardedProps: { throughline: { command: { name: "poll" } } } });
    expect(await service.poll(THREAD, undefined)).toBeUndefined();
  });

  it("lists agents with their commands", async () => {
    const { fetch } = answering(
      Response.json({
        agents: {
          "langgraph:sentinel": {
            name: "Sentinel",
            description: "Watches.",
            capabilities: { custom: { commands: ["hire"] } },
          },
        },
      }),
    );
    expect(await createHttpService({ url: "/", fetch }).agents()).toEqual([
      { agentId: "langgraph:sentinel", name: "Sentinel", description: "Watches.", commands: ["hire"] },
    ]);
  });
});
