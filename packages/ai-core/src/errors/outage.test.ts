import { describe, expect, it } from "vitest";
import { createSimulatedClock, type SimulatedClock } from "../clock.js";
import { isStoreOutage, retryStore, StoreOutage, toStoreFailure } from "./store-outage.js";
import { ThroughlineError } from "./throughline-error.js";

const withCode = (code: string, message = "…") => Object.assign(new Error(message), { code });

describe("isStoreOutage", () => {
  it.each([
    ["refused", withCode("ECONNREFUSED")],
    ["reset", withCode("ECONNRESET")],
    ["an unknown host during a failover", withCode("ENOTFOUND")],
    ["terminated by an administrator", withCode("57P01")],
    ["shutting down", withCode("57P03")],
    ["cancelled by a statement timeout", withCode("57014")],
    ["read-only after a failover", withCode("25006")],
    ["out of connections", withCode("53300")],
    ["a serialization failure", withCode("40001")],
    ["a deadlock", withCode("40P01")],
    ["a broken connection without a code", new Error("Connection terminated unexpectedly")],
    ["a stalled statement", new Error("Query read timeout")],
    ["no free connection", new Error("timeout exceeded when trying to connect")],
    ["every address of a host", new AggregateError([withCode("ECONNREFUSED"), withCode("ECONNREFUSED")])],
    ["itself", new StoreOutage(undefined)],
  ])("knows %s", (_, error) => {
    expect(isStoreOutage(error)).toBe(true);
    expect(toStoreFailure(error)).toBeInstanceOf(StoreOutage);
  });

  it.each([
    ["a violated constraint", withCode("23505")],
    ["a syntax error", withCode("42601")],
    ["a value that can't be stored", withCode("22021")],
    ["an error of ours", new ThroughlineError("internal", "Connection terminated")],
    ["a mistake in the code", new TypeError("x is not a function")],
    ["an error of a graph", new Error("The model said no.")],
    ["nothing thrown properly", "ECONNREFUSED"],
  ])("does not take %s for one", (_, error) => {
    expect(isStoreOutage(error)).toBe(false);
    expect(toStoreFailure(error)).toBe(error);
  });
});

describe("retryStore", () => {
  const away = withCode("ECONNREFUSED");

  /** In steps, with turns in between for what each of them wakes. */
  async function pass(clock: SimulatedClock, ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it("waits however long the store is away, with pauses that grow to a second", async () => {
    const clock = createSimulatedClock();
    let attempts = 0;
    const done = retryStore({ clock, random: () => 1 }, async () => {
      attempts += 1;
      if (clock.now() < 600_000) throw away;
      return "back";
    });
    await pass(clock, 610_000);
    await expect(done).resolves.toBe("back");
    expect(attempts).toBeGreaterThan(590);
    expect(attempts).toBeLessThan(620);
  });

  it("gives up with the outage when its patience ends, or when it is told to", async () => {
    const clock = createSimulatedClock();
    const bounded = retryStore({ clock, patienceMs: 5_000 }, () => Promise.reject(away));
    const aborted = new AbortController();
    const told = retryStore({ clock, signal: aborted.signal }, () => Promise.reject(away));
    const outcomes = Promise.allSettled([bounded, told]);
    await pass(clock, 6_000);
    aborted.abort();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(StoreOutage) });
    }
  });

  it("throws every other error at once", async () => {
    const clock = createSimulatedClock();
    const wrong = withCode("23505");
    await expect(retryStore({ clock }, () => Promise.reject(wrong))).rejects.toBe(wrong);
  });
});
