import { describe, expect, it } from "vitest";
import type { AgentClientOptions } from "../client/agent-client.js";
import { browser } from "../testing/fake-browser.js";
import { emptyPrelude, finished, settled, started } from "../testing/fake-service.js";
import { tabSharing } from "./shared-thread-stream.js";

type Tab = Awaited<ReturnType<ReturnType<typeof browser>["tab"]>>;

/** Goes from one tab to another, as a person does. */
async function switchTo(from: Tab, to: Tab): Promise<void> {
  await from.hide();
  await to.show();
}

/** Two tabs with the same thread open; the second is behind the first, which leads. */
async function twoTabs() {
  const rig = browser();
  const first = await rig.tab();
  const second = await rig.tab();
  await second.hide();
  first.thread.open();
  second.thread.open();
  await settled();
  first.connections[0]?.tell(...emptyPrelude("c1"));
  await settled();
  return { ...rig, first, second };
}

describe("the tab that somebody looks at", () => {
  it("leads, and goes on exactly where the one before it was", async () => {
    const { first, second } = await twoTabs();
    first.connections[0]?.tell(["c2", started("r1", "m1")]);
    await switchTo(first, second);
    expect(first.open()).toHaveLength(0);
    expect(second.open().map(({ cursor }) => cursor)).toEqual(["c2"]);
    second.connections[0]?.tell(["c3", finished("r1")]);
    await settled();
    expect(first.thread.getSnapshot().view).toEqual(second.thread.getSnapshot().view);
    await switchTo(second, first);
    expect(second.open()).toHaveLength(0);
    expect(first.open().map(({ cursor }) => cursor)).toEqual(["c3"]);
  });

  it("does not take the lead from one that somebody looks at too", async () => {
    const { first, second } = await twoTabs();
    await second.show();
    expect(first.open()).toHaveLength(1);
    expect(second.connections).toEqual([]);
    await first.hide();
    expect(second.open()).toHaveLength(1);
  });

  it("takes over commands under way without sending them again, and the tab that asked hears the outcome", async () => {
    const { first, second, pass } = await twoTabs();
    const outcome = first.thread.send("hello");
    await settled();
    const id = first.sends[0]?.command.id ?? "";
    first.sends[0]?.answer({ kind: "accepted" });
    await settled();
    first.connections[0]?.tell(["c2", started(id, first.sends[0]?.command.input.messages?.[0]?.id ?? "")]);
    await switchTo(first, second);
    await pass(10_000);
    expect([first.sends.length, second.sends.length]).toEqual([1, 0]);
    second.connections[0]?.tell(["c3", finished(id)]);
    expect(await outcome).toMatchObject({ kind: "done", status: "success" });
  });

  it("hears what the service answers to a request that the tab before it had sent", async () => {
    const { first, second } = await twoTabs();
    const outcome = first.thread.send("hello");
    await settled();
    await switchTo(first, second);
    first.sends[0]?.answer({ kind: "busy", runId: "other", retryAfterMs: undefined });
    expect(await outcome).toEqual({ kind: "busy", runId: "other" });
    await settled();
    expect(second.sends).toEqual([]);
    for (const tab of [first, second])
      expect(tab.thread.getSnapshot().view.messages).toMatchObject([{ content: "hello", local: "unsent" }]);
  });

  it("keeps a sync that waits for the thread to be free, and sends it once", async () => {
    const { first, second } = await twoTabs();
    first.connections[0]?.tell(["c2", started("other")]);
    const outcome = first.thread.sync({ n: 1 });
    await settled();
    await switchTo(first, second);
    second.connections[0]?.tell(["c3", finished("other")]);
    await settled();
    expect([first.sends.length, second.sends.length]).toEqual([0, 1]);
    const id = second.sends[0]?.command.id ?? "";
    second.sends[0]?.answer({ kind: "accepted" });
    await settled();
    second.connections[0]?.tell(
      ["c4", started(id)],
      ["c5", { type: "STATE_SNAPSHOT", snapshot: { lastAppliedClientMutationId: id } }],
    );
    expect(await outcome).toMatchObject({ kind: "confirmed" });
  });

  it("polls for all tabs, and a leader that nobody looks at does not hold that up", async () => {
    const { first, second, pass } = await twoTabs();
    first.client.watch([{ agentId: "poet", threadId: "status" }]);
    await settled();
    expect(first.polls).toHaveLength(1);
    await switchTo(first, second);
    await pass(1_000);
    expect(first.polls).toHaveLength(1);
    const [poll] = second.polls;
    expect(poll?.thread).toEqual({ agentId: "poet", threadId: "status" });
    const event = { type: "STATE_SNAPSHOT", snapshot: { lifecycle: "hired" } } as const;
    poll?.answer([{ event }, { id: "p1", event: finished("p") }]);
    await settled();
    expect(first.client.thread("poet", "status").getSnapshot().view.state).toEqual(event.snapshot);
    await pass(15_000);
    expect(second.polls[1]?.cursor).toBe("p1");
  });

  it("takes the lead within a second from a tab behind it that hangs", async () => {
    const rig = browser();
    let isHanging = false;
    const first = await rig.tab({
      channels: {
        open: (name, listener) => rig.channels.open(name, (message) => isHanging || listener(message)),
      },
    });
    const second = await rig.tab();
    await second.hide();
    first.thread.open();
    second.thread.open();
    await settled();
    first.connections[0]?.tell(...emptyPrelude("c1"));
    await settled();
    isHanging = true;
    await switchTo(first, second);
    await rig.pass(1_500);
    expect(second.open().map(({ cursor }) => cursor)).toEqual(["c1"]);
  });
});

describe("a tab that takes the lead", () => {
  it("goes on exactly with threads that only other tabs show, whose pages do not change meanwhile", async () => {
    const { tab } = browser();
    const first = await tab();
    const second = await tab();
    await second.hide();
    const shown = first.client.thread("poet", "a");
    shown.open();
    second.client.thread("poet", "b").open();
    await settled();
    const carried = (of: Tab, name: string) => of.open().find(({ thread }) => thread.threadId === name);
    carried(first, "a")?.tell(...emptyPrelude("c1"), ["c2", started("r1", "m1")]);
    await settled();
    const before = shown.getSnapshot().view;
    expect(before.messages).toHaveLength(1);
    const seen: number[] = [];
    shown.subscribe(() => seen.push(shown.getSnapshot().view.messages.length));
    await switchTo(first, second);
    expect(first.open()).toEqual([]);
    expect(carried(second, "a")?.cursor).toBe("c2");
    carried(second, "a")?.tell(["c3", finished("r1")]);
    await settled();
    expect(shown.getSnapshot().view.run?.status).toBe("success");
    expect(new Set(seen)).toEqual(new Set([1]));
  });

  it("asks the service where no tab can say how far it was", async () => {
    const { tab } = browser();
    const leader = await tab();
    const heir = await tab();
    const other = await tab();
    other.thread.open();
    await settled();
    leader.client.close();
    await settled();
    const streams = [...heir.open(), ...other.open()];
    expect(streams.map(({ cursor }) => cursor)).toEqual([undefined]);
    expect(other.thread.getSnapshot().connection).toEqual({ kind: "live" });
  });
});

describe("one stream for a browser", () => {
  it("carries the threads of all tabs, and is replaced when one is opened or left", async () => {
    const { tab } = browser();
    const leader = await tab();
    const others = [await tab(), await tab(), await tab()];
    const leaves = others.map(({ client }, n) => client.thread("poet", `t${n}`).open());
    await settled();
    const carried = () => leader.open().map(({ thread, stream }) => [thread.threadId, stream]);
    expect(new Set(carried().map(([, stream]) => stream)).size).toBe(1);
    expect(carried().map(([threadId]) => threadId)).toEqual(["t0", "t1", "t2"]);
    for (const { connections } of others) expect(connections).toEqual([]);
    leader.open()[1]?.tell(...emptyPrelude("c7"));
    leaves[0]?.();
    await settled();
    expect(leader.open().map(({ thread, cursor }) => [thread.threadId, cursor])).toEqual([
      ["t1", "c7"],
      ["t2", undefined],
    ]);
    for (const leave of leaves) leave();
    await settled();
    expect(leader.open()).toEqual([]);
  });

  it("carries logs that any tab shows, each from where it is, also when another tab leads", async () => {
    const { first, second } = await twoTabs();
    const seen: string[] = [];
    const statuses: string[] = [];
    const leave = second.thread.readLog({
      cursor: () => seen.at(-1),
      entries: (entries) => seen.push(...entries.map(({ id }) => id)),
      statusChanged: ({ kind }) => statuses.push(kind),
    });
    await settled();
    const logOf = (tab: Tab) => tab.open().find(({ view }) => view === "envelopes");
    expect(new Set(first.open().map(({ stream }) => stream)).size).toBe(1);
    logOf(first)?.tellEntries({ id: "e.1.0.log", data: "{}" }, { id: "e.2.0.log", data: "{}" });
    await settled();
    expect(seen).toEqual(["e.1.0.log", "e.2.0.log"]);
    expect(statuses).toContain("live");
    await switchTo(first, second);
    expect(logOf(first)).toBeUndefined();
    expect(logOf(second)?.cursor).toBe("e.2.0.log");
    logOf(second)?.tellEntries({ id: "e.3.0.log", data: "{}" });
    await switchTo(second, first);
    expect(logOf(first)?.cursor).toBe("e.3.0.log");
    logOf(first)?.tellEntries({ id: "e.4.0.log", data: "{}" });
    await settled();
    expect(seen).toEqual(["e.1.0.log", "e.2.0.log", "e.3.0.log", "e.4.0.log"]);
    leave();
    await settled();
    expect(logOf(first)).toBeUndefined();
  });

  it("refuses one thread by name, and goes on with the others", async () => {
    const { tab } = browser();
    const { client, connections, thread } = await tab();
    const other = (await tab()).client.thread("poet", "gone");
    thread.open();
    other.open();
    await settled();
    const gone = connections.findLast((one) => one.thread.threadId === "gone");
    gone?.refuse({ kind: "refused", status: 404, code: "not_found", message: "Deleted." });
    await settled();
    expect(other.getSnapshot().connection).toEqual({
      kind: "failed",
      reason: "not_found",
      message: "Deleted.",
    });
    expect(thread.getSnapshot().connection).toEqual({ kind: "live" });
    client.close();
  });

  it("is a stream for each tab where tabs can't share, and telemetry is told", async () => {
    const { tab } = browser();
    const told: string[] = [];
    const options: Partial<AgentClientOptions> = {
      tabs: (about) => tabSharing({ ...about, locks: undefined }),
      telemetry: { unshared: () => told.push("unshared") },
    };
    const tabs = [await tab(options), await tab(options)];
    for (const { thread } of tabs) thread.open();
    await settled();
    expect(tabs.map(({ connections }) => connections.length)).toEqual([1, 1]);
    expect(told).toEqual(["unshared", "unshared"]);
  });
});
