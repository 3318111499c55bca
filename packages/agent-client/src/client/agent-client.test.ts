import { createSimulatedClock } from "@throughline/ai-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { newId } from "../commands/mutation-ids.js";
import { createMemoryStorage } from "../commands/pending-sync.js";
import {
  createFakeFrames,
  createFakeService,
  emptyPrelude,
  finished,
  settled,
  started,
} from "../testing/fake-service.js";
import { type AgentClientOptions, allFeatures, createAgentClient } from "./agent-client.js";

function setUp(options: Partial<AgentClientOptions> = {}) {
  const fake = createFakeService();
  const frames = createFakeFrames();
  const clock = createSimulatedClock(1_000_000);
  const client = createAgentClient({
    url: "/api",
    ...allFeatures,
    service: fake.service,
    clock,
    random: () => 0.5,
    schedule: frames.schedule,
    storage: createMemoryStorage(),
    ...options,
  });
  return { ...fake, frames, clock, client };
}

function refused(status: number, code: string) {
  return { kind: "refused", status, code, message: "No." } as const;
}

describe("a thread's handle", () => {
  it("is the same for the same thread, and shows what its connection tells", async () => {
    const { client, connections, frames } = setUp();
    const thread = client.thread("poet", "t");
    expect(client.thread("poet", "t")).toBe(thread);
    thread.open();
    await settled();
    expect(thread.getSnapshot().connection).toEqual({ kind: "live" });
    connections[0]?.tell(
      started("r1"),
      { type: "STATE_SNAPSHOT", snapshot: { mood: "calm" } },
      { type: "MESSAGES_SNAPSHOT", messages: [{ id: "m1", role: "user", content: "hi" }] },
      ["c1", finished("r1")],
    );
    frames.draw();
    const { view } = thread.getSnapshot();
    expect(view.state).toEqual({ mood: "calm" });
    expect(view.messages.map(({ id }) => id)).toEqual(["m1"]);
    expect(view.run?.status).toBe("success");
  });

  it("gives every frame at once to who prints them, until they leave", async () => {
    const { client, connections } = setUp();
    const thread = client.thread("poet", "t");
    const read: string[] = [];
    const leave = thread.frames((told) => read.push(...told.map(({ event }) => event.type)));
    thread.open();
    await settled();
    connections[0]?.tell(started("r1"), ["c1", finished("r1")]);
    expect(read).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    leave();
    connections[0]?.tell(["c2", started("r2")]);
    expect(read).toHaveLength(2);
  });

  it("tells its listeners once a frame, and shows them nothing new in between", async () => {
    const { client, connections, frames } = setUp();
    const thread = client.thread("poet", "t");
    let told = 0;
    thread.subscribe(() => {
      told += 1;
    });
    thread.open();
    await settled();
    frames.draw();
    const before = thread.getSnapshot();
    told = 0;
    connections[0]?.tell(["c1", started("r1")], ["c2", { type: "TEXT_MESSAGE_START", messageId: "m" }]);
    connections[0]?.tell(["c3", { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "la" }]);
    expect(thread.getSnapshot()).toBe(before);
    frames.draw();
    expect(told).toBe(1);
    expect(thread.getSnapshot().view.open[0]?.message.content).toBe("la");
    expect(thread.getSnapshot()).toBe(thread.getSnapshot());
    frames.draw();
    expect(told).toBe(1);
  });

  it("keeps the newest frames as they came", async () => {
    const { client, connections, frames, clock } = setUp();
    const thread = client.thread("poet", "t");
    thread.open();
    await settled();
    thread.events.subscribe(() => {});
    connections[0]?.tell(["c1", started("r1")]);
    expect(thread.events.getSnapshot()).toEqual([]);
    frames.draw();
    expect(thread.events.getSnapshot()).toEqual([{ id: "c1", event: started("r1"), at: clock.now() }]);
  });
});

describe("Invariant 3: one stream for the page that is open", () => {
  it("closes a page's stream when another page is opened, and opens it again when that one is left", async () => {
    const { client, open } = setUp();
    const first = client.thread("poet", "first");
    const second = client.thread("poet", "second");
    const names = () => open().map(({ thread }) => thread.threadId);
    const leaveFirst = first.open();
    await settled();
    const leaveSecond = second.open();
    await settled();
    expect(names()).toEqual(["second"]);
    leaveSecond();
    await settled();
    leaveSecond();
    await settled();
    expect(names()).toEqual(["first"]);
    leaveFirst();
    await settled();
    expect(names()).toEqual([]);
    await settled();
    expect(first.getSnapshot().connection).toEqual({ kind: "closed" });
  });

  it("goes on from where it was when it is opened again", async () => {
    const { client, connections } = setUp();
    const thread = client.thread("poet", "t");
    const leave = thread.open();
    await settled();
    connections[0]?.tell(...emptyPrelude("c9"));
    leave();
    await settled();
    thread.open();
    await settled();
    expect(connections.map(({ cursor }) => cursor)).toEqual([undefined, "c9"]);
  });

  it("opens nothing for a page that is left after the client was closed", async () => {
    const { client, connections, open } = setUp();
    client.thread("poet", "below").open();
    await settled();
    const leave = client.thread("poet", "above").open();
    await settled();
    client.close();
    leave();
    await settled();
    expect(open()).toEqual([]);
    expect(connections).toHaveLength(2);
  });

  it("allows as many as it is told to", async () => {
    const { client, open } = setUp({ maxOpen: 2 });
    for (const name of ["a", "b", "c"]) client.thread("poet", name).open();
    await settled();
    expect(
      open()
        .map(({ thread }) => thread.threadId)
        .toSorted(),
    ).toEqual(["b", "c"]);
  });
});

describe("reconnecting by hand", () => {
  it("opens no stream of a line that failed once its page is closed", async () => {
    const { client, connections, open } = setUp();
    const thread = client.thread("poet", "t");
    const leave = thread.open();
    await settled();
    connections[0]?.end({
      kind: "failed",
      failure: { kind: "refused", status: 404, code: "not_found", message: "No." },
    });
    await settled();
    thread.reconnect();
    await settled();
    expect(connections).toHaveLength(2);
    connections[1]?.end({
      kind: "failed",
      failure: { kind: "refused", status: 404, code: "not_found", message: "No." },
    });
    await settled();
    leave();
    await settled();
    thread.reconnect();
    await settled();
    expect(connections).toHaveLength(2);
    expect(open()).toHaveLength(0);
  });
});

describe("a client without parts", () => {
  it("shows and sends, and says which part it lacks", async () => {
    const fake = createFakeService();
    const client = createAgentClient({ url: "/api", service: fake.service });
    onTestFinished(() => client.close());
    client.thread("poet", "t").open();
    await settled();
    expect(fake.connections).toHaveLength(1);
    expect(() => client.watch([])).toThrow("`polling: statusPolling`");
    const tool = { name: "t", description: "", parameters: {}, run: () => null };
    expect(() => client.declareTool(tool)).toThrow("`tools: frontendTools`");
  });
});

describe("a message that is sent", () => {
  it("is shown at once, becomes the service's own, and says how its run ended", async () => {
    const { client, connections, sends, frames } = setUp();
    const thread = client.thread("poet", "t");
    thread.open();
    await settled();
    connections[0]?.tell(...emptyPrelude("c1"));
    const outcome = thread.send("hello");
    expect(thread.getSnapshot().view.messages).toMatchObject([{ content: "hello", local: "sending" }]);
    expect(thread.getSnapshot().pending.running).toBe(true);
    const [sent] = sends;
    const id = sent?.command.id ?? "";
    const messageId = sent?.command.input.messages?.[0]?.id ?? "";
    sent?.answer({ kind: "accepted", serviceRunId: `service:${id}` });
    connections[0]?.tell(["c2", started(id, messageId)], ["c3", finished(id)]);
    expect(await outcome).toEqual({
      kind: "done",
      status: "success",
      runId: id,
      serviceRunId: `service:${id}`,
    });
    frames.draw();
    const runId = `service:${id}`;
    expect(thread.getSnapshot().view.messages).toEqual([
      { id: messageId, role: "user", content: "hello", runId },
    ]);
    expect(thread.getSnapshot().pending.running).toBe(false);
  });

  it("is unsent when the thread is busy, and can be sent again or given up", async () => {
    const { client, connections, sends } = setUp();
    const thread = client.thread("poet", "t");
    thread.open();
    await settled();
    connections[0]?.tell(...emptyPrelude("c1"));
    const outcome = thread.send("hello");
    sends[0]?.answer({ kind: "busy", runId: "other", retryAfterMs: 100 });
    expect(await outcome).toEqual({ kind: "busy", runId: "other" });
    const message = thread.getSnapshot().view.messages[0];
    expect(message?.local).toBe("unsent");
    void thread.resend(message?.id ?? "");
    expect(sends[1]?.command.input.messages?.[0]).toEqual({
      id: message?.id,
      role: "user",
      content: "hello",
    });
    sends[1]?.answer({ kind: "refused", code: "invalid_input", message: "No." });
    await settled();
    thread.discard(message?.id ?? "");
    expect(thread.getSnapshot().view.messages).toEqual([]);
  });

  it("is kept as unsent when it is turned away before it was sent, and shown while it waits its turn", async () => {
    const { client, connections } = setUp();
    const thread = client.thread("poet", "t");
    thread.open();
    await settled();
    connections[0]?.tell(...emptyPrelude("c1"));
    void thread.send("first");
    expect(await thread.send("second")).toMatchObject({ kind: "busy" });
    void thread.send("third", { kind: "queue" });
    expect(thread.getSnapshot().view.messages.map(({ content, local }) => [content, local])).toEqual([
      ["first", "sending"],
      ["second", "unsent"],
      ["third", "sending"],
    ]);
  });

  it("says under which id its run will show before it has an outcome", async () => {
    const { client, connections, sends, frames } = setUp();
    const thread = client.thread("poet", "t");
    thread.open();
    await settled();
    connections[0]?.tell(...emptyPrelude("c1"));
    const { runId } = thread.send("hello");
    sends[0]?.answer({ kind: "unreachable" });
    connections[0]?.tell(["c2", started(runId)]);
    frames.draw();
    expect(thread.getSnapshot().view.run).toMatchObject({ runId, serviceRunId: `service:${runId}` });
  });

  it("names its run by what the stream tells, where the answer was lost", async () => {
    const { client, connections, sends } = setUp();
    const thread = client.thread("poet", "t");
    thread.open();
    await settled();
    const submitted = thread.sync({ mood: "calm" });
    const { runId } = submitted;
    sends[0]?.answer({ kind: "unreachable" });
    await settled();
    connections[0]?.tell(
      ["c1", started(runId)],
      ["c2", { type: "STATE_SNAPSHOT", snapshot: { lastAppliedClientMutationId: runId } }],
    );
    expect(await submitted).toEqual({ kind: "confirmed", runId, serviceRunId: `service:${runId}` });
  });

  it("waits in the queue for a run of another, keeps its thread, and can be discarded before its turn", async () => {
    const { client, connections, sends, clock } = setUp({ gcTime: 1_000 });
    const thread = client.thread("poet", "t");
    const leave = thread.open();
    await settled();
    connections[0]?.tell(...emptyPrelude("c1"), ["c2", started("cron")]);
    const first = thread.send("first", { kind: "queue" });
    const second = thread.command("sum", {}, { kind: "queue" });
    const { queue } = thread.getSnapshot().pending;
    expect(queue.map(({ id }) => id)).toEqual([first.runId, second.runId]);
    leave();
    clock.advance(5_000);
    expect(thread.getSnapshot().pending.queue).toBe(queue);
    const [message] = thread.getSnapshot().view.messages;
    thread.discard(message?.id ?? "");
    expect(await first).toEqual({ kind: "discarded" });
    expect(thread.getSnapshot().view.messages).toEqual([]);
    thread.discard(second.runId);
    expect(await second).toEqual({ kind: "discarded" });
    expect(thread.getSnapshot().pending.queue).toEqual([]);
    await settled();
    expect(sends).toEqual([]);
  });

  it("opens a connection for as long as its run takes when no page is open", async () => {
    const { client, open, connections, sends } = setUp();
    const outcome = client.thread("poet", "t").send("hello");
    await settled();
    expect(open()).toHaveLength(1);
    const id = sends[0]?.command.id ?? "";
    sends[0]?.answer({ kind: "accepted" });
    await settled();
    connections[0]?.tell(["c1", started(id)], ["c2", finished(id)]);
    expect(await outcome).toMatchObject({ kind: "done", status: "success" });
    expect(open()).toHaveLength(0);
  });

  it("is done when it finds its run over: no stream would tell of the end again", async () => {
    const { client, connections, sends, clock } = setUp();
    const thread = client.thread("poet", "t");
    thread.open();
    await settled();
    const outcome = thread.send("hello");
    const id = sends[0]?.command.id ?? "";
    connections[0]?.tell(
      ["c1", started("later")],
      [
        "c2",
        {
          type: "CUSTOM",
          name: "throughline.calls",
          value: {
            whole: true,
            calls: [{ runId: "ours", callId: "run", kind: "run", status: "error", startedAt: 1, endedAt: 2 }],
          },
        },
      ],
      ["c3", finished("later")],
    );
    sends[0]?.answer({ kind: "unreachable" });
    await settled();
    clock.advance(1_000);
    expect(sends.map(({ command }) => command.id)).toEqual([id, id]);
    sends[1]?.answer({ kind: "accepted", serviceRunId: "ours" });
    expect(await outcome).toMatchObject({ kind: "done", status: "error" });
  });
});

describe("a stream that ends early", () => {
  it("says so in words that are no end of the run it showed", async () => {
    const { client, connections, clock } = setUp();
    const thread = client.thread("poet", "t");
    thread.open();
    await settled();
    connections[0]?.tell(["c1", started("r1")]);
    clock.advance(10_000);
    connections[0]?.refuse(refused(503, "shutting_down"));
    connections[0]?.end();
    await settled();
    expect(thread.getSnapshot().view.run?.status).toBe("running");
    expect(thread.getSnapshot().connection.kind).toBe("reconnecting");
    clock.advance(1);
    expect(connections[1]?.cursor).toBe("c1");
  });

  it("asks for new credentials when they expired, and is final when the thread is gone", async () => {
    const { client, connections } = setUp();
    const thread = client.thread("poet", "t");
    thread.open();
    await settled();
    connections[0]?.tell(["c1", started("r1")]);
    connections[0]?.refuse(refused(401, "unauthorized"));
    connections[0]?.end();
    await settled();
    expect(connections[1]?.cursor).toBe("c1");
    connections[1]?.refuse(refused(404, "not_found"));
    connections[1]?.end();
    await settled();
    expect(thread.getSnapshot().connection).toEqual({ kind: "failed", reason: "not_found", message: "No." });
    expect(connections).toHaveLength(2);
  });

  it("tells of what it could not tell frame by frame, and shows the snapshot", async () => {
    let gaps = 0;
    const { client, connections, clock } = setUp({
      telemetry: {
        gap() {
          gaps += 1;
        },
      },
    });
    const thread = client.thread("poet", "t");
    thread.open();
    await settled();
    connections[0]?.tell(...emptyPrelude("c1"));
    connections[0]?.end();
    await settled();
    clock.advance(1_000);
    expect(connections[1]?.cursor).toBe("c1");
    connections[1]?.tell(started("r7"), { type: "STATE_SNAPSHOT", snapshot: { n: 7 } });
    expect(thread.getSnapshot().connection).toEqual({ kind: "gap-repaired" });
    expect(gaps).toBe(1);
    expect(thread.getSnapshot().view.state).toEqual({ n: 7 });
  });
});

describe("a sync that was owed when the page was left", () => {
  it("is sent again under its id after a reload, and owed no more once it is confirmed", async () => {
    const storage = createMemoryStorage();
    const before = setUp({ storage });
    void before.client.thread("sentinel", "t").sync({ threshold: 3 });
    const id = before.sends[0]?.command.id;
    const after = setUp({ storage });
    const thread = after.client.thread("sentinel", "t");
    expect(after.sends.map(({ command }) => command)).toEqual([
      { kind: "sync", id, input: { state: { threshold: 3 } } },
    ]);
    expect(thread.getSnapshot().pending.sync).toBe(true);
    after.sends[0]?.answer({ kind: "accepted" });
    await settled();
    after.connections[0]?.tell(
      ["c1", started(id ?? "")],
      ["c2", { type: "STATE_SNAPSHOT", snapshot: { lastAppliedClientMutationId: id ?? "" } }],
      ["c3", finished(id ?? "")],
    );
    expect(thread.getSnapshot().pending.sync).toBe(false);
    const later = setUp({ storage });
    later.client.thread("sentinel", "t");
    expect(later.sends).toEqual([]);
  });

  it("is not sent for another account", async () => {
    const storage = createMemoryStorage();
    void setUp({ storage, account: "a" }).client.thread("sentinel", "t").sync({ n: 1 });
    const other = setUp({ storage, account: "b" });
    other.client.thread("sentinel", "t");
    expect(other.sends).toEqual([]);
  });
});

describe("a sync", () => {
  it("is later than what the thread has applied, also where another machine's clock is ahead", async () => {
    const { client, connections, sends, clock } = setUp();
    const thread = client.thread("sentinel", "t");
    thread.open();
    await settled();
    const theirs = newId(clock.now() + 3_600_000);
    connections[0]?.tell([
      "c1",
      { type: "STATE_SNAPSHOT", snapshot: { lastAppliedClientMutationId: theirs } },
    ]);
    void thread.sync({ n: 1 });
    expect(sends).toHaveLength(1);
    expect((sends[0]?.command.id ?? "") > theirs).toBe(true);
  });
});

describe("agents", () => {
  const poet = { agentId: "poet", name: "Poet", description: "", commands: [] };

  it("are asked for when somebody looks, with the thread that stands for each, until nobody looks", async () => {
    const { client, polls, offer, frames, clock } = setUp({ statusThread: () => "main" });
    offer([poet]);
    expect(client.agents.getSnapshot().agents).toBeUndefined();
    const leave = client.agents.subscribe(() => {});
    await settled();
    frames.draw();
    expect(client.agents.getSnapshot().agents).toMatchObject([poet]);
    expect(polls.map(({ thread }) => thread)).toEqual([{ agentId: "poet", threadId: "main" }]);
    polls[0]?.answer([
      {
        event: {
          type: "RUN_STARTED",
          threadId: "main",
          runId: "p",
          metadata: { throughline: { poll: true, activeRunId: "r5" } },
        },
      },
      { event: { type: "STATE_SNAPSHOT", snapshot: { lifecycle: "hired" } } },
      { event: { type: "RUN_FINISHED", threadId: "main", runId: "p" } },
    ]);
    await settled();
    frames.draw();
    const [shown] = client.agents.getSnapshot().agents ?? [];
    expect(shown?.thread?.view).toMatchObject({ state: { lifecycle: "hired" }, run: { status: "running" } });
    leave();
    await settled();
    clock.advance(60_000);
    expect(polls).toHaveLength(1);
  });

  it("are not polled while their page is open or the tab is hidden", async () => {
    let isHidden = false;
    let changed = () => {};
    const { client, polls, clock } = setUp({
      surroundings: {
        isHidden: () => isHidden,
        isOnline: () => true,
        subscribe(listener) {
          changed = listener;
          return () => {};
        },
      },
    });
    const leave = client.thread("poet", "main").open();
    await settled();
    client.watch([{ agentId: "poet", threadId: "main" }]);
    clock.advance(60_000);
    expect(polls).toHaveLength(0);
    isHidden = true;
    changed();
    leave();
    await settled();
    clock.advance(60_000);
    expect(polls).toHaveLength(0);
    isHidden = false;
    changed();
    expect(polls).toHaveLength(1);
  });
});

describe("a client without parts", () => {
  it("shows a thread, and says which part is missing for what it can't do", async () => {
    const { service, connections } = createFakeService();
    const client = createAgentClient({ url: "/api", service, storage: createMemoryStorage() });
    const thread = client.thread("poet", "t");
    thread.open();
    await settled();
    connections[0]?.tell(...emptyPrelude("c1"));
    expect(thread.getSnapshot().connection).toEqual({ kind: "live" });
    const tool = { name: "t", description: "", parameters: {}, run: () => null };
    expect(() => client.agents).toThrow("Pass `agents: listAgents` to createAgentClient().");
    expect(() => client.watch([])).toThrow("Pass `polling: statusPolling` to createAgentClient().");
    expect(() => client.declareTool(tool)).toThrow("Pass `tools: frontendTools` to createAgentClient().");
    client.close();
  });
});

describe("a client that is closed", () => {
  it("cuts its streams, settles what waits, and takes nothing more", async () => {
    const { client, open, clock } = setUp();
    const thread = client.thread("poet", "t");
    thread.open();
    await settled();
    const waiting = thread.send("hello");
    client.close();
    expect(await waiting).toEqual({ kind: "unreachable" });
    expect(await thread.send("again")).toEqual({ kind: "unreachable" });
    expect(open()).toHaveLength(0);
    expect(clock.pending()).toBe(0);
  });

  it("polls nothing more, whatever is released afterwards", async () => {
    const { client, polls, clock } = setUp({ statusThread: () => "status" });
    const leave = client.agents.subscribe(() => {});
    await settled();
    const release = client.watch([{ agentId: "poet", threadId: "a" }]);
    client.watch([{ agentId: "poet", threadId: "b" }]);
    client.close();
    const before = polls.length;
    leave();
    release();
    await settled();
    expect(polls).toHaveLength(before);
    expect(clock.pending()).toBe(0);
  });
});
