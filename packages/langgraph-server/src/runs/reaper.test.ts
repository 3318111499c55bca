import { createSimulatedClock } from "@throughline/ai-core";
import type { LeasedRun } from "@throughline/thread-log";
import { describe, expect, it } from "vitest";
import { startReaper } from "./recovery.js";

const turn = () => new Promise((resolve) => setImmediate(resolve));

function openReaper(random: number) {
  const clock = createSimulatedClock();
  const looks: number[] = [];
  const failures: string[] = [];
  let fail = false;
  const reaper = startReaper({
    registry: {
      async claimExpired() {
        looks.push(clock.now());
        if (fail) throw new Error("away");
        return [];
      },
      claimQueued: async () => [],
    },
    lease: { owner: "me", leaseMs: 1_000 },
    clock,
    everyMs: 1_000,
    random: () => random,
    observer: { failed: (message) => void failures.push(message) },
    room: () => 100,
    drive() {},
  });
  const setFailing = (failing: boolean) => {
    fail = failing;
  };
  return { clock, looks, failures, reaper, setFailing };
}

describe("A reaper", () => {
  it("looks at once, then again and again, spread by a quarter either way", async () => {
    for (const [random, step] of [
      [0, 750],
      [0.5, 1_000],
    ] as const) {
      const { clock, looks, reaper } = openReaper(random);
      await turn();
      clock.advance(step);
      await turn();
      clock.advance(step);
      await turn();
      expect(looks).toEqual([0, step, 2 * step]);
      await reaper.close();
      expect(clock.pending()).toBe(0);
    }
  });

  it("goes on looking when a store was away", async () => {
    const { clock, looks, failures, reaper, setFailing } = openReaper(0.5);
    setFailing(true);
    await turn();
    clock.advance(1_000);
    await turn();
    setFailing(false);
    clock.advance(1_000);
    await turn();
    expect(looks).toEqual([0, 1_000, 2_000]);
    expect(failures).toHaveLength(1);
    await reaper.close();
  });

  it("claims no more than the instance may drive", async () => {
    const limits: number[] = [];
    let room = 20;
    const run = { run: {}, fence: {}, head: {} } as unknown as LeasedRun;
    const reaper = startReaper({
      registry: {
        async claimExpired(_, limit) {
          limits.push(limit);
          return Array.from({ length: limit }, () => run);
        },
        claimQueued: async () => expect.unreachable(),
      },
      lease: { owner: "me", leaseMs: 1_000 },
      clock: createSimulatedClock(),
      everyMs: 1_000,
      random: () => 0.5,
      observer: { failed() {} },
      room: () => room,
      drive() {
        room -= 1;
      },
    });
    await reaper.now();
    expect(limits).toEqual([16, 4]);
    await reaper.close();
  });
});
