import type { Fence } from "@throughline/ai-core";
import { describe, expect, it, vi } from "vitest";
import { createHeldLeases, type Heartbeat, leaseOf } from "./leases.js";

const LEASE_MS = 8_000;
const TRUSTED_MS = 7_000;
const fence: Fence = { threadId: "t", runId: "r", token: 1n };
const lease = leaseOf(fence);

function scene() {
  const onEnd = vi.fn();
  const heldLeases = createHeldLeases(LEASE_MS, onEnd);
  const listener = { lost: vi.fn(), expired: vi.fn(), stop: vi.fn() };
  const release = heldLeases.hold(fence, listener, 0);
  const beat = (sentAt: number, found: Partial<Heartbeat>) =>
    heldLeases.apply({ sentAt, renewed: [], lost: [], stopping: [], ...found });
  return { heldLeases, listener, release, beat, onEnd };
}

describe("kept leases", () => {
  it("expire a second before they are over, counted from when the last renewal was sent", () => {
    const { heldLeases, listener, beat, onEnd } = scene();
    beat(3_000, { renewed: [lease] });
    expect(heldLeases.nextExpiry()).toBe(3_000 + TRUSTED_MS);
    heldLeases.expire(3_000 + TRUSTED_MS - 1);
    expect(listener.expired).not.toHaveBeenCalled();
    heldLeases.expire(3_000 + TRUSTED_MS);
    heldLeases.expire(3_000 + TRUSTED_MS);
    beat(11_000, { lost: [lease] });
    expect(listener.expired).toHaveBeenCalledTimes(1);
    expect(listener.lost).not.toHaveBeenCalled();
    expect(onEnd).toHaveBeenCalledExactlyOnceWith(fence);
    expect(heldLeases.fences()).toEqual([]);
  });

  it("expire though they were renewed, when the renewal was sent too late: the process stood still", () => {
    const { listener, beat } = scene();
    beat(TRUSTED_MS, { renewed: [lease] });
    expect(listener.expired).toHaveBeenCalledTimes(1);
  });

  it("do not expire when renewals were sent in time and only received late: this thread was busy", () => {
    const { heldLeases, listener, beat } = scene();
    for (let sentAt = 2_000; sentAt <= 40_000; sentAt += 2_000) beat(sentAt, { renewed: [lease] });
    heldLeases.expire(41_000);
    expect(listener.expired).not.toHaveBeenCalled();
  });

  it("are not renewed while their run is to stop, of which the driver hears once", () => {
    const { heldLeases, listener, beat } = scene();
    heldLeases.stop(fence.runId);
    beat(3_000, { stopping: [lease] });
    beat(6_000, { stopping: [lease] });
    expect(listener.stop).toHaveBeenCalledTimes(1);
    heldLeases.expire(TRUSTED_MS);
    expect(listener.expired).toHaveBeenCalledTimes(1);
  });

  it("are lost to a newer fence of the same run, also on the same instance", () => {
    const { heldLeases, listener, release } = scene();
    const heir = { lost: vi.fn(), expired: vi.fn(), stop: vi.fn() };
    heldLeases.hold({ ...fence, token: 2n }, heir, 1_000);
    expect(listener.lost).toHaveBeenCalledTimes(1);
    expect(release()).toBe(false);
    heldLeases.apply({ sentAt: 2_000, renewed: [], lost: [lease], stopping: [] });
    expect(heir.lost).not.toHaveBeenCalled();
  });

  it("tell nothing once they are let go", () => {
    const { heldLeases, listener, release, beat } = scene();
    expect(release()).toBe(true);
    beat(1_000, { lost: [lease] });
    heldLeases.stop(fence.runId);
    heldLeases.expire(60_000);
    for (const told of Object.values(listener)) expect(told).not.toHaveBeenCalled();
    expect(heldLeases.nextExpiry()).toBeUndefined();
  });
});
