import type { Fence } from "@throughline/ai-core";
import { describe, expect, it, vi } from "vitest";
import { type Beat, createKeptLeases, leaseOf } from "./leases.js";

const LEASE_MS = 8_000;
const TRUSTED_MS = 7_000;
const fence: Fence = { threadId: "t", runId: "r", token: 1n };
const lease = leaseOf(fence);

function scene() {
  const onEnd = vi.fn();
  const kept = createKeptLeases(LEASE_MS, onEnd);
  const listener = { lost: vi.fn(), expired: vi.fn(), stop: vi.fn() };
  const letGo = kept.keep(fence, listener, 0);
  const beat = (sentAt: number, found: Partial<Beat>) =>
    kept.apply({ sentAt, renewed: [], lost: [], stopping: [], ...found });
  return { kept, listener, letGo, beat, onEnd };
}

describe("kept leases", () => {
  it("expire a second before they are over, counted from when the last renewal was sent", () => {
    const { kept, listener, beat, onEnd } = scene();
    beat(3_000, { renewed: [lease] });
    expect(kept.nextExpiry()).toBe(3_000 + TRUSTED_MS);
    kept.expire(3_000 + TRUSTED_MS - 1);
    expect(listener.expired).not.toHaveBeenCalled();
    kept.expire(3_000 + TRUSTED_MS);
    kept.expire(3_000 + TRUSTED_MS);
    beat(11_000, { lost: [lease] });
    expect(listener.expired).toHaveBeenCalledTimes(1);
    expect(listener.lost).not.toHaveBeenCalled();
    expect(onEnd).toHaveBeenCalledExactlyOnceWith(fence);
    expect(kept.fences()).toEqual([]);
  });

  it("expire though they were renewed, when the renewal was sent too late: the process stood still", () => {
    const { listener, beat } = scene();
    beat(TRUSTED_MS, { renewed: [lease] });
    expect(listener.expired).toHaveBeenCalledTimes(1);
  });

  it("do not expire when renewals were sent in time and only received late: this thread was busy", () => {
    const { kept, listener, beat } = scene();
    for (let sentAt = 2_000; sentAt <= 40_000; sentAt += 2_000) beat(sentAt, { renewed: [lease] });
    kept.expire(41_000);
    expect(listener.expired).not.toHaveBeenCalled();
  });

  it("are not renewed while their run is to stop, of which the driver hears once", () => {
    const { kept, listener, beat } = scene();
    kept.stop(fence.runId);
    beat(3_000, { stopping: [lease] });
    beat(6_000, { stopping: [lease] });
    expect(listener.stop).toHaveBeenCalledTimes(1);
    kept.expire(TRUSTED_MS);
    expect(listener.expired).toHaveBeenCalledTimes(1);
  });

  it("are lost to a newer fence of the same run, also on the same instance", () => {
    const { kept, listener, letGo } = scene();
    const heir = { lost: vi.fn(), expired: vi.fn(), stop: vi.fn() };
    kept.keep({ ...fence, token: 2n }, heir, 1_000);
    expect(listener.lost).toHaveBeenCalledTimes(1);
    expect(letGo()).toBe(false);
    kept.apply({ sentAt: 2_000, renewed: [], lost: [lease], stopping: [] });
    expect(heir.lost).not.toHaveBeenCalled();
  });

  it("tell nothing once they are let go", () => {
    const { kept, listener, letGo, beat } = scene();
    expect(letGo()).toBe(true);
    beat(1_000, { lost: [lease] });
    kept.stop(fence.runId);
    kept.expire(60_000);
    for (const told of Object.values(listener)) expect(told).not.toHaveBeenCalled();
    expect(kept.nextExpiry()).toBeUndefined();
  });
});
