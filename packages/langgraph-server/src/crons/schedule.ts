import { createHash } from "node:crypto";
import { ThroughlineError } from "@throughline/ai-core";
import { Cron as Pattern } from "croner";

export interface Schedule {
  /** The first time later than `at`; `undefined` when there is none any more. */
  after(at: number): number | undefined;
}

export interface ScheduleText {
  readonly schedule: string;
  readonly timeZone: string;
  /** Intervals count from here. */
  readonly anchorAt: number;
}

/** Throws `invalid_input` that names `schedule` or `timeZone`. */
export function parseSchedule({ schedule, timeZone, anchorAt }: ScheduleText): Schedule {
  refuseUnknownZone(timeZone);
  const intervalMs = parseInterval(schedule);
  if (intervalMs !== undefined) return { after: (at) => nextInterval(intervalMs, anchorAt, at) };
  if (/^every\b/i.test(schedule.trim())) {
    throw refused(
      "schedule",
      "is not an interval. Write it as every 10 s, every 5 min, every 2 h or every 1 d",
    );
  }
  // croner also takes a single date, which would be a cron that ran once and stayed.
  if (/^\d{4}-\d/.test(schedule.trim())) throw refused("schedule", "is a date. Write it in cron syntax");
  return earliestOf(splitFixedTimes(schedule).map((pattern) => parsePattern(pattern, timeZone)));
}

function parsePattern(pattern: string, timezone: string): Schedule {
  try {
    // Paused and without a function it is arithmetic only.
    const parsed = new Pattern(pattern, { timezone, paused: true });
    return { after: (at) => parsed.nextRun(new Date(at))?.getTime() };
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : "is not cron syntax";
    throw refused("schedule", `is neither cron syntax nor an interval such as every 10 s: ${why}`);
  }
}

function earliestOf(schedules: readonly Schedule[]): Schedule {
  const [only] = schedules;
  if (schedules.length === 1 && only) return only;
  // Walking on from time to time, all but the earliest of them are where they were.
  const members = schedules.map(({ after }) => {
    let known: { readonly from: number; readonly next: number | undefined } | undefined;
    return (at: number) => {
      if (!known || at < known.from || at >= (known.next ?? Number.POSITIVE_INFINITY)) {
        known = { from: at, next: after(at) };
      }
      return known.next;
    };
  });
  return {
    after(at) {
      const times = members.map((after) => after(at)).filter((time) => time !== undefined);
      return times.length === 0 ? undefined : Math.min(...times);
    },
  };
}

function refuseUnknownZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch {
    throw refused("timeZone", "is not a time zone we know. Use an IANA name, such as Europe/Berlin or UTC");
  }
}

function refused(field: string, why: string): ThroughlineError {
  return new ThroughlineError("invalid_input", `${field}: ${why}`, { details: { field } });
}
/** More than this many times a day is no list of times any more. */
const MAX_TIMES = 24;

/**
 * Cron's old promise about clock changes is that a job with a set time of day runs once on such a day. croner keeps it for
 * one time per pattern; of `30 2,14 * * *` it would leave out or double half. So a pattern that lists its times is taken
 * apart into one pattern per time. Everything with a `*` or a step among its times stays whole: that is a rhythm.
 */
function splitFixedTimes(pattern: string): readonly string[] {
  const parts = pattern.trim().split(/\s+/);
  const hasSeconds = parts.length > 5;
  const times = parts.slice(0, hasSeconds ? 3 : 2).map(valuesOf);
  const dates = parts.slice(hasSeconds ? 3 : 2).join(" ");
  let combined: readonly string[] = [""];
  for (const values of times) {
    if (!values) return [pattern];
    combined = combined.flatMap((before) => values.map((value) => `${before}${value} `));
    if (combined.length > MAX_TIMES) return [pattern];
  }
  return combined.map((time) => `${time}${dates}`);
}

/** `2,14` and `9-11` as their values, `undefined` for what is no list of numbers. */
function valuesOf(field: string): readonly number[] | undefined {
  const values: number[] = [];
  for (const part of field.split(",")) {
    const match = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(part);
    if (!match) return undefined;
    const from = Number(match[1]);
    const to = Number(match[2] ?? match[1]);
    // croner itself reports the error.
    if (to < from) return undefined;
    for (let value = from; value <= to; value += 1) values.push(value);
  }
  return [...new Set(values)];
}
const UNITS: ReadonlyMap<string, number> = new Map([
  ...["s", "sec", "second", "seconds"].map((name): [string, number] => [name, 1_000]),
  ...["m", "min", "minute", "minutes"].map((name): [string, number] => [name, 60_000]),
  ...["h", "hour", "hours"].map((name): [string, number] => [name, 3_600_000]),
  ...["d", "day", "days"].map((name): [string, number] => [name, 86_400_000]),
]);
const MAX_INTERVAL_MS = 366 * 86_400_000;

/** `every 10 s`, `every 5 minutes`, `every hour`: its milliseconds. `undefined` for any other text. */
function parseInterval(text: string): number | undefined {
  const match = /^every\s+(?:(\d{1,8})\s*)?([a-z]+)$/i.exec(text.trim());
  const unit = UNITS.get(match?.[2]?.toLowerCase() ?? "");
  if (!match || unit === undefined) return undefined;
  const length = Number(match[1] ?? 1) * unit;
  return length >= 1 && length <= MAX_INTERVAL_MS ? length : undefined;
}

/** The first whole number of intervals from the anchor that is later than `at`. */
function nextInterval(intervalMs: number, anchorAt: number, at: number): number {
  return anchorAt + Math.max(1, Math.floor((at - anchorAt) / intervalMs) + 1) * intervalMs;
}

/** Below `limitMs`. The same for the same tick wherever it is computed, so that instances agree on when it is due. */
export function jitterOf(cronId: string, scheduledAt: number, limitMs: number): number {
  if (limitMs <= 0) return 0;
  const hash = createHash("sha256").update(`${cronId}:${scheduledAt}`).digest();
  return Math.floor((hash.readUInt32BE(0) / 2 ** 32) * limitMs);
}
