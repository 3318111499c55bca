import { setImmediate as turn } from "node:timers/promises";
import { createSimulatedClock, StoreOutage } from "@throughline/ai-core";
import { describe, expect, it, vi } from "vitest";
import { createMemoryDatabase } from "../memory/database.js";
import { createMemoryRunRegistry } from "../memory/run-registry.js";
import { createClockLeaseKeeper } from "./leases.js";

function scene() {
  const clock = createSimulatedClock(1_000_000);
  const registry = createMemoryRunRegistry(createMemoryDatabase(clock));
  const heartbeat = vi.spyOn(registry, "heartbeat").mockResolvedValue({ lost: [], stopping: [] });
  const keeper = createClockLeaseKeeper({ registry, clock, owner: "here", leaseMs: 8_000, everyMs: 2_000 });
  const listener = { lost: vi.fn(), expired: vi.fn(), stop: vi.fn() };
  keeper.keep({ threadId: "t", runId: "r", token: 1n }, listener);
  return { clock, heartbeat, keeper, listener };
}

describe("the clock lease keeper", () => {
  it("tells a driver before its lease is over, when heartbeats fail", async () => {
    const { clock, heartbeat, keeper, listener } = scene();
    heartbeat.mockRejectedValue(new StoreOutage(undefined));
    for (let passed = 0; passed < 7_000; passed += 1_000) {
      expect(listener.expired).not.toHaveBeenCalled();
      clock.advance(1_000);
      await turn();
    }
    expect(listener.expired).toHaveBeenCalledTimes(1);
    clock.advance(2_000);
    await turn();
    expect(keeper.healthy()).toEqual({ ok: false, reason: "No heartbeat was answered for 9 s." });
    await keeper.close();
    expect(clock.pending()).toBe(0);
  });

  it("does not take a jump of the clock for silence, as long as heartbeats are answered", async () => {
    const { clock, keeper, listener } = scene();
    clock.advance(60_000);
    await turn();
    expect(listener.expired).not.toHaveBeenCalled();
    expect(keeper.healthy()).toEqual({ ok: true });
    await keeper.close();
  });
});
