import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readEvents, type SseEvent, typesOf } from "../testing/sse-events.js";
import { startTestServer, type TestServer } from "../testing/test-server.js";
import { threadAddress } from "../threads/thread-address.js";

interface Sent {
  readonly command: { readonly name: string; readonly clientMutationId?: string; readonly args?: object };
  readonly strategy?: string;
}

describe("A command", () => {
  let server: TestServer;
  beforeAll(async () => {
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "0");
    server = await startTestServer();
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await server.close();
  });

  const send = (threadId: string, throughline: Sent, more: object = {}) =>
    server.post("/api/copilotkit/agent/sentinel/run", { threadId, forwardedProps: { throughline }, ...more });
  const read = async (threadId: string, throughline: Sent, more?: object) =>
    readEvents(await send(threadId, throughline, more));
  const command = (name: string, args?: object): Sent => ({ command: { name, ...(args && { args }) } });
  const sync = (clientMutationId: string): Sent => ({ command: { name: "sync", clientMutationId } });
  const watching = (...watch: string[]) => ({ state: { settings: { watch } } });

  /** A thread with a cycle that goes on until it is ended. */
  async function busyThread(threadId: string): Promise<{ readonly events: Promise<SseEvent[]> }> {
    await read(threadId, command("hire"));
    const answer = await send(threadId, command("cycle", { durationMs: 60_000 }), {
      runId: `${threadId}-cycle`,
    });
    return { events: readEvents(answer) };
  }

  async function stateOf(threadId: string): Promise<unknown> {
    const polled = await read(threadId, command("poll"));
    return polled.find(({ data }) => data.type === "STATE_SNAPSHOT")?.data.snapshot;
  }

  it("P55: sync is refused while a run is open, says which, and applies once that has ended", async () => {
    const cycling = await busyThread("sync-busy");
    const refused = (await read("sync-busy", sync("m1"), watching("queue"))).at(-1)?.data;
    expect(refused).toMatchObject({
      type: "RUN_ERROR",
      code: "busy",
      metadata: { throughline: { details: { runId: expect.any(String), retryAfterMs: expect.any(Number) } } },
    });
    expect(await stateOf("sync-busy")).not.toMatchObject({ lastAppliedClientMutationId: "m1" });
    await read("sync-busy", command("stop"));
    await cycling.events;
    const applied = await read("sync-busy", sync("m1"), watching("queue"));
    expect(acknowledgements(applied, "m1")).toBe(1);
    expect(await stateOf("sync-busy")).toMatchObject({
      settings: { watch: ["queue"] },
      lastAppliedClientMutationId: "m1",
    });
  });

  it("P55: sync that asks to wait takes its turn, and the last one wins also if it wants what was there before", async () => {
    await read("sync-queue", sync("m0"), watching("before"));
    const cycling = await busyThread("sync-queue");
    const queued = [
      await send("sync-queue", { ...sync("m1"), strategy: "enqueue" }, watching("between")),
      await send("sync-queue", { ...sync("m2"), strategy: "enqueue" }, watching("before")),
    ];
    await read("sync-queue", command("stop", { runId: "sync-queue-cycle" }));
    const [first, second] = await Promise.all(queued.map((answer) => readEvents(answer)));
    expect((await cycling.events).at(-1)?.data).toMatchObject({
      metadata: { throughline: { status: "cancelled" } },
    });
    expect(acknowledgements(first ?? [], "m1")).toBe(1);
    expect(acknowledgements(second ?? [], "m2")).toBe(1);
    expect(await stateOf("sync-queue")).toMatchObject({
      settings: { watch: ["before"] },
      lastAppliedClientMutationId: "m2",
    });
  });

  it("P55: fire ends the open run and then runs, before what waits", async () => {
    const cycling = await busyThread("fired");
    const patient = await send("fired", { ...sync("m1"), strategy: "enqueue" }, watching("queue"));
    const fired = await read("fired", command("fire"));
    expect((await cycling.events).at(-1)?.data).toMatchObject({
      type: "RUN_FINISHED",
      metadata: { throughline: { status: "cancelled" } },
    });
    expect(fired.at(-1)?.data).toMatchObject({ metadata: { throughline: { status: "success" } } });
    expect(typesOf(await readEvents(patient)).at(-1)).toBe("RUN_FINISHED");
    expect(await stateOf("fired")).toMatchObject({
      lifecycle: "fired",
      cycleCount: 0,
      log: [{ command: "hire" }, { command: "fire" }, { command: "sync" }],
    });
  });

  it("P59, P60: stop without a name is for everything that was asked: what runs, and what waits", async () => {
    const cycling = await busyThread("stopped");
    const waiting = await send("stopped", { ...sync("m1"), strategy: "enqueue" }, watching("queue"));
    const stopped = await read("stopped", command("stop"));
    expect(stopped.at(-1)?.data).toMatchObject({ metadata: { throughline: { stop: "stopping" } } });
    for (const events of [await cycling.events, await readEvents(waiting)]) {
      expect(events.at(-1)?.data).toMatchObject({ metadata: { throughline: { status: "cancelled" } } });
    }
    expect(await stateOf("stopped")).toMatchObject({ lastAppliedClientMutationId: null });
    expect((await read("stopped", command("stop"))).at(-1)?.data).toMatchObject({
      metadata: { throughline: { stop: "idle" } },
    });
  });

  it("P52: is in no entry of the log: neither its name, nor its arguments, nor its mutation's id but as applied", async () => {
    const threadId = "unwritten";
    await read(threadId, command("hire"));
    await read(threadId, { command: { name: "cycle", clientMutationId: "m-1", args: { durationMs: 7 } } });
    await read(threadId, sync("m-2"), watching("queue"));
    const answer = await fetch(`${server.url}/agents/sentinel/threads/${threadId}/events?follow=false`);
    const told = JSON.stringify(await readEvents(answer));
    expect(told).not.toContain("m-1");
    expect(told).not.toContain('"durationMs":7,');
    expect(told).not.toContain("clientMutationId");
    expect(told).toContain('"lastAppliedClientMutationId"');
  });

  it("P53: is known from what the runtime says of an agent, and an unknown one is told those there are", async () => {
    const info: unknown = await (await fetch(`${server.url}/api/copilotkit/info`)).json();
    const commands = ["hire", "cycle", "sync", "fire"];
    expect(info).toMatchObject({
      agents: { "langgraph:sentinel": { capabilities: { custom: { commands } } } },
    });
    const refused = await read("unknown", command("firee"));
    expect(refused.at(-1)?.data).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("It has: hire, cycle, sync, fire, poll, stop, ask_again."),
    });
  });

  it("poll tells of a run that is open without disturbing it", async () => {
    const cycling = await busyThread("polled");
    const polled = await read("polled", command("poll"), { runId: "p-1" });
    expect(polled[0]?.data).toMatchObject({
      runId: "p-1",
      metadata: { throughline: { poll: true, activeRunId: expect.any(String) } },
    });
    expect(polled.at(-1)?.data).toMatchObject({ type: "RUN_FINISHED", runId: "p-1" });
    await read("polled", command("stop"));
    expect((await cycling.events).filter(({ data }) => data.type === "RUN_FINISHED")).toHaveLength(1);
  });
});

describe("A thread that waits for an answer", () => {
  let server: TestServer;
  beforeAll(async () => {
    vi.stubEnv("THROUGHLINE_OFFLINE_PACE_MS", "0");
    server = await startTestServer();
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await server.close();
  });

  it("P57: refuses what rejects or waits, and lets in what preempts: the question is set aside", async () => {
    const ask = async (content: string, strategy: string) => {
      const messages = [{ id: `${content} ${strategy}`, role: "user", content }];
      const body = { threadId: "asked", messages, forwardedProps: { throughline: { strategy } } };
      return readEvents(await server.post("/api/copilotkit/agent/travel/run", body));
    };
    await ask("Plan a trip", "reject");
    for (const strategy of ["reject", "enqueue"]) {
      expect((await ask("Never mind", strategy)).at(-1)?.data).toMatchObject({ code: "interrupt_pending" });
    }
    const caller = { billingAccountId: "dev", virtualKeyId: "dev", traceId: "t" };
    const asked = await server.service.registry.openInterrupts(threadAddress(caller, "travel", "asked").ref);
    expect(asked).toHaveLength(1);
    expect(typesOf(await ask("Plan another trip", "preempt")).at(-1)).toBe("RUN_FINISHED");
    const resume = [{ interruptId: asked[0]?.interruptId, status: "resolved", payload: "KLM" }];
    const late = await server.post("/api/copilotkit/agent/travel/run", { threadId: "asked", resume });
    expect((await readEvents(late)).at(-1)?.data).toMatchObject({ code: "conflict" });
  });
});

/** How many frames say that the mutation was applied. */
function acknowledgements(events: readonly SseEvent[], clientMutationId: string): number {
  const changes = events.filter(({ data }) => data.type === "STATE_DELTA" || data.type === "STATE_SNAPSHOT");
  return changes.filter(({ data }) => JSON.stringify(data).includes(`"${clientMutationId}"`)).length;
}
