import { createSimulatedClock, type SimulatedClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { startClockGuard } from "./clock-guard.js";

/** A machine whose wall clock can be set, and a database that always has the right time. */
function machine(aheadMs = 0) {
  const clock = createSimulatedClock();
  const wrong: number[] = [];
  const compared: number[] = [];
  let ahead = aheadMs;
  let answerMs = 0;
  /** What answers took, on top of the clock. */
  let waited = 0;
  const guard = startClockGuard({
    clock,
    random: () => 0.5,
    everyMs: 1_000,
    wallNow: () => clock.now() + waited + ahead,
    steadyNow: () => clock.now() + waited,
    storeNow: async () => {
      const now = clock.now() + waited;
      waited += answerMs;
      return now;
    },
    onDrift: (errorMs) => wrong.push(Math.round(errorMs / 1_000)),
    onCompared: (errorMs) => compared.push(errorMs),
    onFailed: (error) => {
      throw error;
    },
  });
  return {
    guard,
    clock,
    wrong,
    compared,
    put: (ms: number) => {
      ahead = ms;
    },
    answerAfter: (ms: number) => {
      answerMs = ms;
    },
  };
}

/** A second at a time, with a turn for what each begins. */
async function pass(clock: SimulatedClock, ms: number): Promise<void> {
  for (let left = ms; left >= 0; left -= 1_000) {
    clock.advance(Math.min(left, 1_000));
    await new Promise(setImmediate);
  }
}

describe("A guarded clock", () => {
  it("is right within two seconds of the database's", async () => {
    const { guard, clock, wrong } = machine(1_500);
    await pass(clock, 5_000);
    expect([guard.isInSync(), wrong]).toEqual([true, []]);
    await guard.close();
  });

  it("is compared with the database's at each reading, right or wrong", async () => {
    const { guard, clock, compared, put } = machine(-40);
    await pass(clock, 0);
    put(9_000);
    await pass(clock, 1_000);
    expect(compared.slice(0, 2)).toEqual([-40, 9_000]);
    await guard.close();
  });

  it("is wrong from the moment it is put forward or back, without a look at the database", async () => {
    const { guard, clock, wrong, put } = machine();
    await pass(clock, 5_000);
    for (const ms of [-824_000, 0, 2_700_000, 0]) {
      put(ms);
      expect(guard.isInSync()).toBe(ms === 0);
    }
    expect(wrong).toEqual([-824, 2_700]);
    await guard.close();
  });

  it("is known to be wrong where it was so before the instance began", async () => {
    const { guard, clock, wrong } = machine(-60_000);
    await pass(clock, 0);
    expect([guard.isInSync(), wrong]).toEqual([false, [-60]]);
    await guard.close();
  });

  it("is right again once people set it, and told of once for all that time", async () => {
    const { guard, clock, wrong, put } = machine();
    await pass(clock, 1_000);
    put(9_000);
    await pass(clock, 60_000);
    expect([guard.isInSync(), wrong]).toEqual([false, [9]]);
    put(0);
    expect(guard.isInSync()).toBe(true);
    await guard.close();
  });

  it("is not judged by an answer that took long", async () => {
    const { guard, clock, wrong, answerAfter } = machine();
    answerAfter(30_000);
    await pass(clock, 60_000);
    expect([guard.isInSync(), wrong]).toEqual([true, []]);
    await guard.close();
  });
});
