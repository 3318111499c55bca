import { createSimulatedClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { createTokenBuckets } from "./limits.js";

describe("a rate meter", () => {
  it("lets a minute's worth pass at once, and then what the passing of time brings back", () => {
    const clock = createSimulatedClock();
    const meter = createTokenBuckets(clock);
    for (let taken = 0; taken < 60; taken += 1) {
      expect(meter.wait("a", 60)).toBe(0);
      meter.spend("a", 60, 1);
    }
    expect(meter.wait("a", 60)).toBe(1_000);
    clock.advance(999);
    expect(meter.wait("a", 60)).toBeGreaterThan(0);
    clock.advance(1);
    expect(meter.wait("a", 60)).toBe(0);
    clock.advance(600_000);
    meter.spend("a", 60, 60);
    expect(meter.wait("a", 60)).toBe(1_000);
  });

  it("goes on from where it was when the clock is put back", () => {
    let now = 3_600_000;
    const meter = createTokenBuckets({ ...createSimulatedClock(), now: () => now });
    meter.spend("a", 60, 1);
    meter.spend("b", 60, 60);
    now = 0;
    expect(meter.wait("a", 60)).toBe(0);
    expect(meter.wait("b", 60)).toBe(1_000);
    now = 1_000;
    expect(meter.wait("b", 60)).toBe(0);
  });

  it("counts each account by itself", () => {
    const meter = createTokenBuckets(createSimulatedClock());
    meter.spend("a", 10, 10);
    expect(meter.wait("a", 10)).toBeGreaterThan(0);
    expect(meter.wait("b", 10)).toBe(0);
  });

  it("makes who took more than there was wait for all of it", () => {
    const clock = createSimulatedClock();
    const meter = createTokenBuckets(clock);
    meter.spend("a", 60, 120);
    expect(meter.wait("a", 60)).toBe(61_000);
    clock.advance(61_000);
    expect(meter.wait("a", 60)).toBe(0);
  });

  it("forgets accounts that have their whole minute again, and none that has not", () => {
    const clock = createSimulatedClock();
    const meter = createTokenBuckets(clock);
    meter.spend("deep in debt", 60, 6_000);
    for (let each = 0; each <= 10_000; each += 1) meter.spend(`account ${each}`, 60, 1);
    clock.advance(61_000);
    meter.spend("last", 60, 1);
    expect(meter.wait("deep in debt", 60)).toBeGreaterThan(60_000);
    expect(meter.wait("account 1", 60, 60)).toBe(0);
  });
});
