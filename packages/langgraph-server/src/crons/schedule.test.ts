import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseSchedule } from "./schedule.js";

function times(schedule: string, timeZone: string, from: string, count: number): string[] {
  const { after } = parseSchedule({ schedule, timeZone, anchorAt: Date.parse(from) });
  const found: string[] = [];
  for (let at = after(Date.parse(from)); at !== undefined && found.length < count; at = after(at)) {
    found.push(new Date(at).toISOString().replace(":00.000Z", "Z"));
  }
  return found;
}

describe("A schedule on the day clocks change", () => {
  it("runs a daily job in the missing hour as soon as the hour is over, in Berlin", () => {
    expect(times("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 3)).toEqual([
      "2026-03-28T01:30Z",
      "2026-03-29T01:00Z",
      "2026-03-30T00:30Z",
    ]);
  });

  it("runs a daily job in the doubled hour the first time only, in Berlin", () => {
    expect(times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 3)).toEqual([
      "2026-10-25T00:30Z",
      "2026-10-26T01:30Z",
      "2026-10-27T01:30Z",
    ]);
  });

  it("runs a daily job in the missing hour as soon as the hour is over, in New York", () => {
    expect(times("30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", 2)).toEqual([
      "2026-03-08T07:00Z",
      "2026-03-09T06:30Z",
    ]);
  });

  it("runs a daily job in the doubled hour the first time only, in New York", () => {
    expect(times("30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", 2)).toEqual([
      "2026-11-01T05:30Z",
      "2026-11-02T06:30Z",
    ]);
  });

  it("keeps each of several times a day, neither left out nor doubled", () => {
    expect(times("30 2,14 * * *", "Europe/Berlin", "2026-03-28T20:00:00Z", 3)).toEqual([
      "2026-03-29T01:00Z",
      "2026-03-29T12:30Z",
      "2026-03-30T00:30Z",
    ]);
    expect(times("0 1-3 * * *", "Europe/Berlin", "2026-10-24T20:00:00Z", 4)).toEqual([
      "2026-10-24T23:00Z",
      "2026-10-25T00:00Z",
      "2026-10-25T02:00Z",
      "2026-10-26T00:00Z",
    ]);
  });

  it("keeps the rhythm of what has no time of day", () => {
    expect(times("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:10:00Z", 4)).toEqual([
      "2026-10-25T00:30Z",
      "2026-10-25T01:00Z",
      "2026-10-25T01:30Z",
      "2026-10-25T02:00Z",
    ]);
    expect(times("0 * * * *", "America/New_York", "2026-03-08T06:10:00Z", 2)).toEqual([
      "2026-03-08T07:00Z",
      "2026-03-08T08:00Z",
    ]);
  });
});

describe("A schedule", () => {
  it("takes seconds, nicknames and plain intervals", () => {
    expect(times("*/20 * * * * *", "UTC", "2026-01-01T00:00:01Z", 2)).toEqual([
      "2026-01-01T00:00:20.000Z",
      "2026-01-01T00:00:40.000Z",
    ]);
    expect(times("@daily", "Asia/Kolkata", "2026-01-01T00:00:00Z", 1)).toEqual(["2026-01-01T18:30Z"]);
    expect(times("every 10 s", "UTC", "2026-01-01T00:00:03Z", 2)).toEqual([
      "2026-01-01T00:00:13.000Z",
      "2026-01-01T00:00:23.000Z",
    ]);
    expect(times("every hour", "UTC", "2026-01-01T00:05:00Z", 1)).toEqual(["2026-01-01T01:05Z"]);
    expect(times("Every 90 Minutes", "UTC", "2026-01-01T00:05:00Z", 1)).toEqual(["2026-01-01T01:35Z"]);
  });

  it.each([
    ["every 0 s", "schedule"],
    ["every 10 parsecs", "schedule"],
    ["every -1 s", "schedule"],
    ["every 400 d", "schedule"],
    ["61 * * * *", "schedule"],
    ["* * * *", "schedule"],
    ["2026-01-01T00:00:00", "schedule"],
    ["tomorrow", "schedule"],
    ["@reboot", "schedule"],
  ])("refuses %j and names the field", (schedule, field) => {
    expect(() => parseSchedule({ schedule, timeZone: "UTC", anchorAt: 0 })).toThrowError(
      expect.objectContaining({ code: "invalid_input", details: { field } }),
    );
  });

  it("refuses a time zone nobody knows and names the field", () => {
    expect(() =>
      parseSchedule({ schedule: "every 1 h", timeZone: "Mars/Olympus", anchorAt: 0 }),
    ).toThrowError(expect.objectContaining({ code: "invalid_input", details: { field: "timeZone" } }));
  });

  it("has no time left when its year is over, or its day never comes", () => {
    expect(times("0 0 0 1 1 * 2020", "UTC", "2026-01-01T00:00:00Z", 1)).toEqual([]);
    expect(times("0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z", 1)).toEqual([]);
  });

  it("gives times that only grow, and the same time from wherever it is asked", () => {
    const schedule = fc.constantFrom(
      "30 2 * * *",
      "0 */6 * * *",
      "15,45 1-3 * * *",
      "*/7 * * * *",
      "every 37 min",
      "0 9 * * MON",
    );
    const zone = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe");
    const at = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) });
    fc.assert(
      fc.property(
        schedule,
        zone,
        at,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (text, timeZone, from, part) => {
          const parse = () => parseSchedule({ schedule: text, timeZone, anchorAt: 0 });
          const next = parse().after(from) ?? Number.NaN;
          expect(next).toBeGreaterThan(from);
          // Nothing lies between: asked from any moment before it, the answer is the same.
          expect(parse().after(from + Math.floor((next - from) * part))).toBe(next);
          const walked = parse();
          walked.after(from);
          expect(walked.after(next)).toBe(parse().after(next));
        },
      ),
      { numRuns: 150 },
    );
  });
});
