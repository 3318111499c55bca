import { createSimulatedClock, StoreOutage } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { createPendingStops } from "./stop-runs.js";

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function pass(clock: ReturnType<typeof createSimulatedClock>, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    clock.advance(500);
    await turn();
  }
}

describe("P63: a stop that meets a store which is away", () => {
  function scene() {
    const clock = createSimulatedClock();
    const closed = new AbortController();
    let isAway = true;
    let applied = 0;
    const stops = createPendingStops<string>(clock, closed.signal);
    const apply = async () => {
      if (isAway) throw new StoreOutage("away");
      applied += 1;
      return "stopping";
    };
    return {
      clock,
      closed,
      stop: () => stops.stop("run 1", apply),
      stops,
      comeBack() {
        isAway = false;
      },
      applied: () => applied,
    };
  }

  it("is waited for as long as a request may wait", async () => {
    const { clock, stop, comeBack, applied } = scene();
    const stopped = stop();
    await pass(clock, 2_000);
    comeBack();
    await pass(clock, 2_000);
    await expect(stopped).resolves.toBe("stopping");
    expect(applied()).toBe(1);
  });

  it("is refused after that, kept, and applied once when the store is back, however often it was asked for", async () => {
    const { clock, stop, stops, comeBack, applied } = scene();
    const asked = Promise.allSettled([stop(), stop()]);
    await pass(clock, 8_000);
    expect((await asked).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await pass(clock, 60_000);
    expect(applied()).toBe(0);
    comeBack();
    await pass(clock, 2_000);
    await stops.applied();
    expect(applied()).toBe(1);
  });

  it("does not keep a service from closing", async () => {
    const { clock, closed, stop, stops } = scene();
    const asked = stop().catch(() => {});
    await pass(clock, 8_000);
    await asked;
    closed.abort();
    await stops.applied();
  });
});
