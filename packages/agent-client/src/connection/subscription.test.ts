import { describe, expect, it } from "vitest";
import { DEFAULT_CONNECTION_POLICY as POLICY } from "./connection-state.js";
import { attach, detach, isAsked, newSubscription, resync, statusOf } from "./subscription-state.js";

const live = { status: { kind: "live" } } as const;
const at = (now: number) => ({ now, random: 0 });
const refused = (status: number, retryAfterMs?: number) => ({
  kind: "refused" as const,
  status,
  code: `code_${status}`,
  message: "No.",
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});

describe("one thread of the browser's stream", () => {
  it("is live only once a live stream carries it", () => {
    expect(statusOf(newSubscription, { status: { kind: "closed" } })).toEqual({ kind: "connecting" });
    expect(statusOf(newSubscription, live)).toEqual({ kind: "connecting" });
    const carried = attach(newSubscription, 1, 0);
    expect(statusOf(carried, live)).toEqual({ kind: "live" });
    const status = { kind: "reconnecting", attempt: 1, retryAt: 5 } as const;
    expect(statusOf(carried, { status })).toBe(status);
  });

  it("is said to be repaired when the service told everything instead of going on, until the next stream", () => {
    const repaired = { ...attach(newSubscription, 1, 0), isGap: true };
    expect(statusOf(repaired, live)).toEqual({ kind: "gap-repaired" });
    expect(statusOf(attach(repaired, 2, 10), live)).toEqual({ kind: "live" });
  });

  it("fails alone where the service refuses it, and is asked for no more", () => {
    const gone = detach(attach(newSubscription, 1, 0), refused(404), at(1), POLICY);
    expect(statusOf(gone, live)).toEqual({ kind: "failed", reason: "code_404", message: "No." });
    expect(isAsked(gone)).toBe(false);
  });

  it("waits, longer each time, where a refusal passes; carried for a while it begins anew", () => {
    const first = detach(attach(newSubscription, 1, 0), refused(503), at(10), POLICY);
    expect(statusOf(first, live)).toEqual({ kind: "reconnecting", attempt: 1, retryAt: 510 });
    const second = detach(
      attach({ ...first, retryAt: undefined }, 2, 600),
      refused(429, 7_000),
      at(700),
      POLICY,
    );
    expect(second).toMatchObject({ attempt: 2, retryAt: 7_700 });
    const healthy = detach(
      attach({ ...second, retryAt: undefined }, 3, 8_000),
      refused(503),
      at(14_000),
      POLICY,
    );
    expect(healthy.attempt).toBe(1);
  });

  it("is asked for anew at once when a frame does not fit, and with a pause when the next does not either", () => {
    const again = resync(attach(newSubscription, 1, 0), at(10), POLICY);
    expect(isAsked(again)).toBe(true);
    const twice = resync(attach(again, 2, 20), at(30), POLICY);
    expect(isAsked(twice)).toBe(false);
    expect(statusOf(twice, live)).toMatchObject({ kind: "reconnecting", attempt: 2 });
  });
});
