import { describe, expect, it } from "vitest";
import { browser } from "../testing/fake-browser.js";
import { emptyPrelude, finished, settled, started } from "../testing/fake-service.js";

const MINUTE = 60_000;
const options = { gcTime: 5 * MINUTE };

/** A tab that has shown a thread with one message, and left it. */
async function leftThread() {
  const rig = browser();
  const tab = await rig.tab(options);
  const leave = tab.thread.open();
  await settled();
  tab.connections[0]?.tell(...emptyPrelude("c1"), ["c2", started("r1", "m1")], ["c3", finished("r1")]);
  await settled();
  leave();
  await settled();
  const held = () => tab.thread.getSnapshot().view.messages.length;
  return { ...rig, ...tab, held };
}

describe("a thread that nobody looks at", () => {
  it("is kept for a while, and then let go of with all that it held", async () => {
    const { clock, held, thread, connections, client } = await leftThread();
    clock.advance(4 * MINUTE);
    expect(held()).toBe(1);
    clock.advance(2 * MINUTE);
    expect(held()).toBe(0);
    expect(thread.events.getSnapshot()).toEqual([]);
    expect(client.thread("poet", "t")).toBe(thread);
    thread.open();
    await settled();
    expect(connections.at(-1)?.cursor).toBeUndefined();
    connections.at(-1)?.tell(...emptyPrelude("d1"), ["d2", started("r2", "m2")]);
    expect(held()).toBe(1);
  });

  it("goes on from where it was when it is opened again before that", async () => {
    const { clock, thread, connections } = await leftThread();
    clock.advance(4 * MINUTE);
    thread.open();
    await settled();
    expect(connections.at(-1)?.cursor).toBe("c3");
    clock.advance(20 * MINUTE);
    expect(connections.at(-1)?.isCut).toBe(false);
  });

  it.each<[string, (tab: Awaited<ReturnType<typeof leftThread>>) => () => void]>([
    ["listens to it", ({ thread }) => thread.subscribe(() => {})],
    ["listens to its frames", ({ thread }) => thread.events.subscribe(() => {})],
    ["has it polled", ({ client }) => client.watch([{ agentId: "poet", threadId: "t" }])],
    [
      "reads its log",
      ({ thread }) => thread.readLog({ cursor: () => undefined, entries() {}, statusChanged() {} }),
    ],
  ])("is kept for as long as somebody %s", async (_, use) => {
    const left = await leftThread();
    const { clock, held } = left;
    const leave = use(left);
    await settled();
    clock.advance(12 * MINUTE);
    expect(held()).toBe(1);
    leave();
    await settled();
    clock.advance(11 * MINUTE);
    expect(held()).toBe(0);
  });

  it("is kept while a command is under way", async () => {
    const { clock, held, thread, sends, open, connections } = await leftThread();
    const outcome = thread.send("hello");
    await settled();
    const id = sends[0]?.command.id ?? "";
    sends[0]?.answer({ kind: "accepted" });
    await settled();
    open()[0]?.tell(["c4", started(id, sends[0]?.command.input.messages?.[0]?.id ?? "")]);
    for (let minute = 0; minute < 12; minute += 1) {
      clock.advance(MINUTE);
      await settled();
    }
    expect(held()).toBe(2);
    connections.at(-1)?.tell(["c5", finished(id)]);
    expect(await outcome).toMatchObject({ kind: "done", status: "success" });
    clock.advance(11 * MINUTE);
    expect(held()).toBe(0);
  });

  it("is held by the tab that leads for as long as another one shows it", async () => {
    const { tab, clock } = browser();
    const leader = await tab(options);
    const other = await tab(options);
    const shown = other.client.thread("poet", "elsewhere");
    const leave = shown.open();
    await settled();
    leader.open()[0]?.tell(...emptyPrelude("c1"), ["c2", started("r1", "m1")]);
    await settled();
    for (let minute = 0; minute < 12; minute += 1) {
      clock.advance(MINUTE);
      await settled();
    }
    leader.open()[0]?.tell(["c3", finished("r1")]);
    await settled();
    expect(shown.getSnapshot().view.run?.status).toBe("success");
    leave();
    await settled();
    expect(leader.open()).toEqual([]);
    const again = shown.open();
    await settled();
    expect(leader.open().map(({ cursor }) => cursor)).toEqual(["c3"]);
    again();
  });
});
