import { createSimulatedClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { type AgentClientOptions, allFeatures, createAgentClient } from "../client/agent-client.js";

import { createMemoryStorage } from "../commands/pending-sync.js";
import { createMemoryChannels, createMemoryLocks } from "../tabs/memory-ports.js";
import {
  createFakeService,
  type FakeConnection,
  finished,
  settled,
  started,
} from "../testing/fake-service.js";
import type { AgentEvent } from "../wire/agent-event.js";
import type { FrontendTool } from "./frontend-tools.js";

function setUp(options: Partial<AgentClientOptions> = {}) {
  const fake = createFakeService();
  const client = createAgentClient({
    url: "/api",
    ...allFeatures,
    service: fake.service,
    clock: createSimulatedClock(1_000_000),
    storage: createMemoryStorage(),
    schedule(callback) {
      queueMicrotask(callback);
      return () => {};
    },
    ...options,
  });
  return { ...fake, client, thread: client.thread("painter", "t") };
}

const pick: FrontendTool = {
  name: "pick_colour",
  description: "Lets the person pick a colour.",
  parameters: { type: "object" },
  run: () => ({ colour: "blue" }),
};

function asks(connection: FakeConnection | undefined, name = "pick_colour", isOver = true): void {
  connection?.tell(
    ["c1", started("r1")],
    ["c2", { type: "TOOL_CALL_START", toolCallId: "call", toolCallName: name, parentMessageId: "m" }],
    ["c3", { type: "TOOL_CALL_ARGS", toolCallId: "call", delta: '{"of":"door"}' }],
    ["c4", { type: "TOOL_CALL_END", toolCallId: "call" }],
  );
  if (isOver) connection?.tell(["c5", finished("r1")]);
}

describe("a tool of the page", () => {
  it("is offered with every request, until it is taken back", async () => {
    const { client, thread, sends } = setUp();
    const withdraw = client.declareTool(pick);
    thread.open();
    await settled();
    void thread.send("paint");
    expect(sends[0]?.circumstances.tools).toEqual([
      { name: pick.name, description: pick.description, parameters: pick.parameters },
    ]);
    withdraw();
    void client.thread("painter", "other").send("paint");
    expect(sends[1]?.circumstances.tools).toEqual([]);
  });

  it("runs with its arguments once the run that asked is over, and its result starts the next", async () => {
    const { client, thread, connections, sends } = setUp();
    const seen: unknown[] = [];
    client.declareTool({
      ...pick,
      run(args, { toolCallId }) {
        seen.push([toolCallId, args]);
        return pick.run(args, { toolCallId, signal: new AbortController().signal });
      },
    });
    thread.open();
    await settled();
    asks(connections[0], "pick_colour", false);
    await settled();
    expect(seen).toEqual([]);
    connections[0]?.tell(["c5", finished("r1")]);
    await settled();
    expect(seen).toEqual([["call", { of: "door" }]]);
    expect(sends.map(({ command }) => command.input.messages)).toEqual([
      [{ id: "call:result", role: "tool", toolCallId: "call", content: '{"colour":"blue"}' }],
    ]);
  });

  it("tells the graph when it fails", async () => {
    const { client, thread, connections, sends } = setUp();
    client.declareTool({
      ...pick,
      run() {
        throw new Error("No paint left.");
      },
    });
    thread.open();
    await settled();
    asks(connections[0]);
    await settled();
    expect(sends[0]?.command.input.messages).toMatchObject([{ content: "No paint left.", failed: true }]);
  });

  it("may wait for a person", async () => {
    const { client, thread, connections, sends } = setUp();
    let choose = (_: string) => {};
    client.declareTool({
      ...pick,
      run: () =>
        new Promise<string>((resolve) => {
          choose = resolve;
        }),
    });
    thread.open();
    await settled();
    asks(connections[0]);
    await settled();
    expect(sends).toEqual([]);
    choose("green");
    await settled();
    expect(sends[0]?.command.input.messages).toMatchObject([{ content: "green" }]);
  });

  it("runs a waiting call again when it is declared anew while that is under way", async () => {
    const { client, thread, connections, sends } = setUp();
    const withdraw = client.declareTool({ ...pick, run: () => new Promise(() => {}) });
    thread.open();
    await settled();
    asks(connections[0]);
    await settled();
    client.declareTool(pick);
    withdraw();
    await settled();
    expect(sends.map(({ command }) => command.input.messages?.[0]?.content)).toEqual(['{"colour":"blue"}']);
  });

  it("is not run for a call that is not its own, is answered, or whose thread waits for a person", async () => {
    const { client, thread, connections, sends } = setUp();
    client.declareTool(pick);
    thread.open();
    await settled();
    asks(connections[0], "something_else");
    await settled();
    connections[0]?.tell(
      ["d1", started("r2")],
      [
        "d2",
        { type: "TOOL_CALL_START", toolCallId: "call2", toolCallName: "pick_colour", parentMessageId: "m2" },
      ],
      ["d3", { type: "TOOL_CALL_END", toolCallId: "call2" }],
      ["d4", { type: "TOOL_CALL_RESULT", messageId: "res", toolCallId: "call2", content: "red" }],
      ["d5", finished("r2")],
    );
    await settled();
    expect(sends).toEqual([]);
  });

  it("runs again after a reload, and is answered under the same id", async () => {
    const before = setUp();
    before.client.declareTool({ ...pick, run: () => new Promise<string>(() => {}) });
    before.thread.open();
    await settled();
    asks(before.connections[0]);
    await settled();
    before.client.close();
    const ids = [];
    for (let reload = 0; reload < 2; reload += 1) {
      const after = setUp();
      after.client.declareTool(pick);
      after.thread.open();
      await settled();
      asks(after.connections[0]);
      await settled();
      ids.push(after.sends[0]?.command.id);
    }
    expect(ids).toEqual(["tools:call", "tools:call"]);
  });

  it("runs in one tab only, and in the next when that one is closed before it answered", async () => {
    const shared = { locks: createMemoryLocks(), channels: createMemoryChannels() };
    const ran: string[] = [];
    const tabs = [setUp(shared), setUp(shared)];
    await settled();
    for (const [index, { client, thread }] of tabs.entries()) {
      client.declareTool({
        ...pick,
        run() {
          ran.push(`tab ${index}`);
          return index === 0 ? new Promise<string>(() => {}) : "red";
        },
      });
      thread.open();
      await settled();
    }
    await settled();
    const [first, second] = tabs;
    asks(first?.connections[0]);
    await settled();
    expect(ran).toEqual(["tab 0"]);
    first?.client.close();
    await settled();
    expect(ran).toEqual(["tab 0", "tab 1"]);
    expect(second?.sends[0]?.command.input.messages).toMatchObject([{ content: "red" }]);
  });

  it("of another tab is not kept waiting by a call of the same message, and its answer is a run of its own", async () => {
    const shared = { locks: createMemoryLocks(), channels: createMemoryChannels() };
    const tabs = [setUp(shared), setUp(shared)];
    await settled();
    const [slow, quick] = tabs;
    slow?.client.declareTool({ ...pick, run: () => new Promise<string>(() => {}) });
    quick?.client.declareTool({ ...pick, name: "pick_size", run: () => "large" });
    for (const { thread } of tabs) thread.open();
    await settled();
    const asked = (callId: string, name: string): [string, AgentEvent][] => [
      [
        `${callId} 1`,
        { type: "TOOL_CALL_START", toolCallId: callId, toolCallName: name, parentMessageId: "m" },
      ],
      [`${callId} 2`, { type: "TOOL_CALL_END", toolCallId: callId }],
    ];
    slow?.connections[0]?.tell(
      ["c1", started("r1")],
      ...asked("colour", "pick_colour"),
      ...asked("size", "pick_size"),
      ["c5", finished("r1")],
    );
    await settled();
    expect(slow?.sends.map(({ command }) => command.id)).toEqual(["tools:size"]);
    expect(slow?.sends[0]?.command.input.messages).toMatchObject([{ toolCallId: "size", content: "large" }]);
  });
});
