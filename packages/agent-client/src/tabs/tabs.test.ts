import { createSimulatedClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import type { Surroundings } from "../client/environment.js";
import { browser } from "../testing/fake-browser.js";
import { emptyPrelude, finished, settled, started } from "../testing/fake-service.js";
import type { Channel, ChannelPort, LockPort } from "./ports.js";

/** A tab's ears, which can be frozen: what comes meanwhile is heard when it wakes. */
function freezable(channels: ChannelPort, locks: LockPort) {
  let isFrozen = false;
  let missed: (() => void)[] = [];
  const whenAwake = (hear: () => void) => {
    if (isFrozen) missed.push(hear);
    else hear();
  };
  return {
    channels: {
      open: (name: string, listener: (message: unknown) => void): Channel =>
        channels.open(name, (message) => whenAwake(() => listener(message))),
    },
    locks: {
      request: (...[name, options, held]: Parameters<LockPort["request"]>) =>
        new Promise<void>((resolve, reject) => {
          locks.request(name, options, held).then(resolve, (error) => whenAwake(() => reject(error)));
        }),
    },
    freeze() {
      isFrozen = true;
    },
    wake() {
      isFrozen = false;
      for (const hear of missed) hear();
      missed = [];
    },
  };
}

describe("tabs of one browser", () => {
  it("share one stream, and show the same", async () => {
    const { tab } = browser();
    const first = await tab();
    const second = await tab();
    first.thread.open();
    second.thread.open();
    await settled();
    expect([first.connections.length, second.connections.length]).toEqual([1, 0]);
    first.connections[0]?.tell(...emptyPrelude("c1"), ["c2", started("r1", "m1")]);
    await settled();
    expect(second.thread.getSnapshot().view).toEqual(first.thread.getSnapshot().view);
    expect(second.thread.getSnapshot().connection).toEqual({ kind: "live" });
    const third = await tab();
    await settled();
    expect(third.thread.getSnapshot().view).toEqual(first.thread.getSnapshot().view);
    first.connections[0]?.tell(["c3", finished("r1")]);
    await settled();
    expect(third.thread.getSnapshot().view.run?.status).toBe("success");
  });

  it("have the stream opened for a page of a tab that does not lead, and closed with it", async () => {
    const { tab } = browser();
    const leader = await tab();
    const other = await tab();
    const leave = other.thread.open();
    await settled();
    expect(leader.open()).toHaveLength(1);
    leave();
    await settled();
    expect(leader.open()).toHaveLength(0);
  });

  it("have the one that leads reconnect when any of them is told to", async () => {
    const { tab } = browser();
    const leader = await tab();
    const other = await tab();
    other.thread.open();
    await settled();
    leader.connections[0]?.end({
      kind: "failed",
      failure: { kind: "refused", status: 403, code: "forbidden", message: "No." },
    });
    await settled();
    expect(other.thread.getSnapshot().connection.kind).toBe("failed");
    other.thread.reconnect();
    await settled();
    expect(leader.open()).toHaveLength(1);
    expect(other.thread.getSnapshot().connection.kind).toBe("live");
  });

  it("have one of them send, and all of them told", async () => {
    const { tab } = browser();
    const leader = await tab();
    const other = await tab();
    const outcome = other.thread.send("hello");
    await settled();
    expect([leader.sends.length, other.sends.length]).toEqual([1, 0]);
    const id = leader.sends[0]?.command.id ?? "";
    await settled();
    expect(other.thread.getSnapshot().view.messages).toMatchObject([{ local: "sending" }]);
    leader.sends[0]?.answer({ kind: "accepted" });
    await settled();
    leader.connections[0]?.tell(["c1", started(id)], ["c2", finished(id)]);
    expect(await outcome).toMatchObject({ kind: "done", status: "success" });
  });

  it("show one queue, and each may give up what waits in it", async () => {
    const { tab } = browser();
    const leader = await tab();
    const other = await tab();
    for (const { thread } of [leader, other]) thread.open();
    await settled();
    leader.connections[0]?.tell(...emptyPrelude("c1"), ["c2", started("cron")]);
    const first = other.thread.send("first", { kind: "queue" });
    const second = leader.thread.send("second", { kind: "queue" });
    await settled();
    const queued = ({ thread }: typeof leader) => thread.getSnapshot().pending.queue.map(({ id }) => id);
    expect(new Set(queued(leader))).toEqual(new Set([first.runId, second.runId]));
    expect(queued(other)).toEqual(queued(leader));
    other.thread.discard(second.runId);
    expect(await second).toEqual({ kind: "discarded" });
    await settled();
    expect(queued(other)).toEqual([first.runId]);
    leader.connections[0]?.tell(["c3", finished("cron")]);
    await settled();
    expect(leader.sends.map(({ command }) => command.id)).toEqual([first.runId]);
  });

  it("do not share between accounts, nor between people of one account", async () => {
    const { tab } = browser();
    const tabs = [
      await tab({ account: "acme" }),
      await tab({ account: "other" }),
      await tab({ account: "acme", subject: "ann" }),
      await tab({ account: "acme", subject: "bob" }),
    ];
    for (const { thread } of tabs) thread.open();
    await settled();
    expect(tabs.map(({ connections }) => connections.length)).toEqual([1, 1, 1, 1]);
    void tabs[2]?.thread.sync({ n: 1 });
    await settled();
    expect(tabs.map(({ sends }) => sends.length)).toEqual([0, 0, 1, 0]);
    const next = await tab({ account: "acme", subject: "bob" });
    expect(next.sends).toEqual([]);
  });
});

describe("a leader that is closed", () => {
  it("is followed by another tab, which goes on from where it was", async () => {
    const { tab } = browser();
    const leader = await tab();
    const heir = await tab();
    leader.thread.open();
    heir.thread.open();
    await settled();
    leader.connections[0]?.tell(...emptyPrelude("c1"));
    await settled();
    leader.client.close();
    await settled();
    expect(leader.open()).toHaveLength(0);
    expect(heir.open().map(({ cursor }) => cursor)).toEqual(["c1"]);
  });

  it("leaves what others asked of it to its heir, under the same id", async () => {
    const { tab } = browser();
    const leader = await tab();
    const heir = await tab();
    const outcome = heir.thread.sync({ n: 1 });
    await settled();
    const id = leader.sends[0]?.command.id ?? "";
    leader.client.close();
    await settled();
    expect(heir.sends.map(({ command }) => command.id)).toEqual([id]);
    heir.sends[0]?.answer({ kind: "accepted" });
    await settled();
    heir.connections[0]?.tell(
      ["c1", started(id)],
      ["c2", { type: "STATE_SNAPSHOT", snapshot: { lastAppliedClientMutationId: id } }],
      ["c3", finished(id)],
    );
    expect(await outcome).toMatchObject({ kind: "confirmed" });
  });

  it("leaves its own pending sync to whoever has the thread, once", async () => {
    const { tab } = browser();
    const leader = await tab();
    void leader.thread.sync({ n: 1 });
    await settled();
    const id = leader.sends[0]?.command.id;
    leader.client.close();
    const heir = await tab();
    const late = await tab();
    await settled();
    expect(heir.sends.map(({ command }) => command.id)).toEqual([id]);
    expect(late.sends).toEqual([]);
  });
});

describe("a tab that is closed", () => {
  it("has its pages closed, also when it had no time to say so", async () => {
    const { tab } = browser();
    const leader = await tab();
    const other = await tab();
    other.thread.open();
    await settled();
    expect(leader.open()).toHaveLength(1);
    other.client.close();
    await settled();
    expect(leader.open()).toHaveLength(0);
  });
});

describe("a leader that is frozen", () => {
  it("loses the lead, and steps down when it wakes", async () => {
    const { tab, pass, channels, locks } = browser();
    const ears = freezable(channels, locks);
    const heldBack = createSimulatedClock(1_000_000);
    let stale = 0;
    const frozen = await tab({ channels: ears.channels, locks: ears.locks, clock: heldBack });
    const heir = await tab({
      telemetry: {
        staleDropped(count) {
          stale += count;
        },
      },
    });
    frozen.thread.open();
    heir.thread.open();
    await settled();
    frozen.connections[0]?.tell(...emptyPrelude("c1"));
    await settled();
    ears.freeze();
    await pass(20_000);
    expect(heir.open().map(({ cursor }) => cursor)).toEqual(["c1"]);
    heir.connections[0]?.tell(["c2", started("r1", "m1")]);
    // Its stream speaks before anything else does: it does not know yet that it leads no more.
    frozen.connections[0]?.tell(["c2", started("r1", "m1")]);
    heldBack.advance(20_000);
    ears.wake();
    await settled();
    expect(frozen.open()).toHaveLength(0);
    expect(frozen.thread.getSnapshot().view).toEqual(heir.thread.getSnapshot().view);
    expect(heir.open()).toHaveLength(1);
    expect(stale).toBeGreaterThan(0);
  });

  it("hands over before that, because it would go on to answer without doing anything, and comes back behind the other", async () => {
    const { tab } = browser();
    let isFrozen = false;
    let changed = () => {};
    const surroundings: Surroundings = {
      isHidden: () => isFrozen,
      isOnline: () => true,
      isFrozen: () => isFrozen,
      subscribe(listener) {
        changed = listener;
        return () => {};
      },
    };
    const frozen = await tab({ surroundings });
    const heir = await tab();
    frozen.thread.open();
    heir.thread.open();
    await settled();
    isFrozen = true;
    changed();
    await settled();
    expect(frozen.open()).toHaveLength(0);
    expect(heir.open()).toHaveLength(1);
    isFrozen = false;
    changed();
    await settled();
    expect(frozen.open()).toHaveLength(0);
    heir.client.close();
    await settled();
    expect(frozen.open()).toHaveLength(1);
  });

  it("is left alone as long as it answers, however slow its own timers are", async () => {
    const { tab, pass } = browser();
    const leader = await tab();
    const other = await tab();
    leader.thread.open();
    other.thread.open();
    await pass(60_000);
    expect(other.connections).toHaveLength(0);
  });
});
