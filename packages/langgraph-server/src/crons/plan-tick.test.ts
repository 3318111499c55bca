import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Cron } from "./cron.js";
import type { CronDefinition } from "./cron-definition.js";
import { LATE_MS, MAX_COUNTED, nextTime, planTick } from "./plan-tick.js";

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function cron(definition: Partial<CronDefinition> = {}, id = "cron-1"): Cron {
  const made: Cron = {
    account: "acme",
    id,
    virtualKeyId: "key-1",
    definition: {
      agent: "langgraph:sentinel",
      threadName: "watch",
      schedule: "every 1 h",
      timeZone: "UTC",
      input: {},
      model: null,
      overlap: "skip",
      missed: "skip",
      jitterMs: 0,
      enabled: true,
      ...definition,
    },
    anchorAt: START,
    nextAt: undefined,
    dueAt: undefined,
    createdAt: START,
    updatedAt: START,
  };
  return { ...made, ...nextTime(made, START) };
}

describe("A tick", () => {
  it("fires when it is due, and not before", () => {
    expect(planTick(cron(), START + HOUR - 1)).toBeUndefined();
    expect(planTick(cron(), START + HOUR)).toEqual({
      scheduledAt: START + HOUR,
      fires: true,
      missed: 0,
      next: { nextAt: START + 2 * HOUR, dueAt: START + 2 * HOUR },
    });
  });

  it("that is a little late fires", () => {
    expect(planTick(cron(), START + HOUR + LATE_MS)).toMatchObject({ fires: true, missed: 0 });
  });

  it("that nobody was there for is left out", () => {
    expect(planTick(cron(), START + HOUR + LATE_MS + 1)).toMatchObject({
      scheduledAt: START + HOUR,
      fires: false,
      missed: 1,
      next: { nextAt: START + 2 * HOUR },
    });
  });

  it("fires once for all that were missed, where the cron says so", () => {
    const plan = planTick(cron({ missed: "run_once" }), START + 5 * HOUR + 30 * MINUTE);
    expect(plan).toMatchObject({
      scheduledAt: START + 5 * HOUR,
      fires: true,
      missed: 4,
      next: { nextAt: START + 6 * HOUR },
    });
  });

  it("fires on time after a downtime, without those before it", () => {
    expect(planTick(cron(), START + 5 * HOUR)).toMatchObject({
      scheduledAt: START + 5 * HOUR,
      fires: true,
      missed: 4,
    });
  });

  it("of every second, missed for a year, is planned at once and counted as far as it matters", () => {
    const now = START + 365 * 24 * HOUR;
    expect(planTick(cron({ schedule: "* * * * * *", missed: "run_once" }), now)).toMatchObject({
      scheduledAt: now,
      missed: MAX_COUNTED,
    });
  });

  it("is the last one when its year is over", () => {
    const last = cron({ schedule: "0 0 12 31 12 * 2026" });
    expect(planTick(last, Date.UTC(2026, 11, 31, 12))).toMatchObject({
      fires: true,
      next: { nextAt: undefined, dueAt: undefined },
    });
  });

  it("is never due while the cron is paused", () => {
    expect(cron({ enabled: false })).toMatchObject({ nextAt: undefined, dueAt: undefined });
    expect(planTick(cron({ enabled: false }), START + 9 * HOUR)).toBeUndefined();
  });
});

describe("Jitter", () => {
  it("delays a tick by the same amount wherever it is computed, and ticks by different ones", () => {
    const spread = cron({ jitterMs: 10 * MINUTE });
    expect(spread.nextAt).toBe(START + HOUR);
    expect(spread.dueAt).toBe(cron({ jitterMs: 10 * MINUTE }).dueAt);
    const delays = new Set(
      Array.from({ length: 20 }, (_, index) => cron({ jitterMs: 10 * MINUTE }, `cron-${index}`).dueAt),
    );
    expect(delays.size).toBeGreaterThan(15);
  });

  it("never leaves a tick out, doubles or reorders one, however it compares with the interval", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3 * HOUR }),
        fc.constantFrom("every 1 h", "every 10 s", "*/5 * * * *"),
        fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 60 }),
        (jitterMs, schedule, steps) => {
          let current = cron({ jitterMs, schedule, missed: "run_once" });
          let now = START;
          let accounted = 0;
          let last = Number.NEGATIVE_INFINITY;
          for (const step of steps) {
            now += step;
            const plan = planTick(current, now);
            if (!plan) continue;
            expect(plan.scheduledAt).toBeGreaterThan(last);
            expect(plan.next.dueAt).toBeGreaterThan(now);
            last = plan.scheduledAt;
            accounted += plan.missed + 1;
            current = { ...current, ...plan.next };
          }
          const everyOne = countUntil(cron({ schedule }), last);
          expect(accounted).toBe(everyOne);
        },
      ),
      { numRuns: 100 },
    );
  });
});

function countUntil(plain: Cron, last: number): number {
  let count = 0;
  for (let next = plain.nextAt; next !== undefined && next <= last; count += 1) {
    next = nextTime(plain, next).nextAt;
  }
  return count;
}
