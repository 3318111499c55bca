import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  dependsOnTimeZone,
  planOf,
  readClock,
  type SchedulePlan,
  scheduleOf,
  scheduleText,
} from "./schedule";

const time = fc.record({ hour: fc.nat(23), minute: fc.nat(59) });
const plan: fc.Arbitrary<SchedulePlan> = fc.oneof(
  fc.record({
    kind: fc.constant("interval" as const),
    count: fc.integer({ min: 1, max: 9_999 }),
    unit: fc.constantFrom("s" as const, "min" as const, "h" as const, "d" as const),
  }),
  fc.record({ kind: fc.constant("hourly" as const), minute: fc.nat(59) }),
  fc.record({ kind: fc.constant("daily" as const), time }),
  fc.record({ kind: fc.constant("weekdays" as const), time }),
  fc.record({ kind: fc.constant("weekly" as const), day: fc.nat(6), time }),
  fc.record({ kind: fc.constant("monthly" as const), dayOfMonth: fc.integer({ min: 1, max: 31 }), time }),
);

describe("a schedule in plain words", () => {
  it("stays what it is over cron syntax and back", () => {
    fc.assert(
      fc.property(plan, (said) => {
        expect(planOf(scheduleOf(said))).toEqual(said);
      }),
    );
  });

  it("keeps whatever it can't say, letter by letter", () => {
    for (const schedule of [
      "*/5 * * * *",
      "0 9 * * 1,3",
      "0 0 9 * * *",
      "61 * * * *",
      "0 9 1 1 *",
      "0 9 1 * 1",
      "every 10 parsecs",
      "every 0 s",
      "@daily",
      "",
    ]) {
      expect(planOf(schedule)).toEqual({ kind: "custom", schedule });
      expect(scheduleOf(planOf(schedule))).toBe(schedule);
    }
  });

  it.each([
    ["every 10 s", "every 10 seconds"],
    ["every hour", "every hour"],
    ["every 1 min", "every minute"],
    ["0 * * * *", "every hour, on the hour"],
    ["5 * * * *", "every hour, at 5 past"],
    ["30 8 * * *", "every day at 08:30"],
    ["0 9 * * MON-FRI", "on weekdays at 09:00"],
    ["0 9 * * 7", "every Sunday at 09:00"],
    ["0 9 * * tue", "every Tuesday at 09:00"],
    ["15 6 1 * *", "on day 1 of every month at 06:15"],
    ["*/5 * * * *", "*/5 * * * *"],
  ])("%s is said as: %s", (schedule, words) => {
    expect(scheduleText(schedule)).toBe(words);
  });

  it("knows which depend on where one is", () => {
    expect(dependsOnTimeZone("every 10 s")).toBe(false);
    expect(dependsOnTimeZone("0 9 * * *")).toBe(true);
  });

  it("reads a time field, and nothing of an empty one", () => {
    expect(readClock("09:05")).toEqual({ hour: 9, minute: 5 });
    expect(readClock("")).toBeUndefined();
    expect(readClock("25:00")).toBeUndefined();
  });
});
