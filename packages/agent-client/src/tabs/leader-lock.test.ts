import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../commands/pending-sync.js";
import { settled } from "../testing/fake-service.js";
import { createLeaderLock } from "./leader-lock.js";
import { createMemoryLocks } from "./memory-ports.js";
import type { LockPort } from "./ports.js";

function tabs() {
  const memory = createMemoryLocks();
  const storage = createMemoryStorage();
  const asked: string[] = [];
  const locks: LockPort = {
    request(name, options, held) {
      asked.push(name);
      return memory.request(name, options, held);
    },
  };
  function tab(tabId: string) {
    const told: unknown[] = [];
    const lock = createLeaderLock({
      locks,
      storage,
      scope: "s",
      tabId,
      onGranted: (epoch) => told.push(["granted", epoch]),
      onLost: () => told.push("lost"),
      onGone: (gone) => told.push(["gone", gone]),
    });
    return { ...lock, told };
  }
  return { tab, asked };
}

describe("the lock of the tab that leads", () => {
  it("tells once when another tab is gone, however often it was watched, and again when that came back", async () => {
    const { tab, asked } = tabs();
    const leader = tab("a");
    const other = tab("b");
    for (let n = 0; n < 20; n += 1) leader.watch("b");
    await settled();
    expect(asked.filter((name) => name === "s:tab:b")).toHaveLength(2);
    expect(leader.told).toEqual([]);
    other.close();
    await settled();
    const back = tab("b");
    leader.watch("b");
    await settled();
    back.close();
    await settled();
    expect(leader.told).toEqual([
      ["gone", "b"],
      ["gone", "b"],
    ]);
  });

  it("is told to be lost when another steals it, which learns the epoch that was kept", async () => {
    const { tab } = tabs();
    const [first, second] = [tab("a"), tab("b")];
    first.request(false);
    await settled();
    first.storeEpoch(7);
    second.request(true);
    await settled();
    expect(first.told).toEqual([["granted", 0], "lost"]);
    expect(second.told).toEqual([["granted", 7]]);
  });
});
