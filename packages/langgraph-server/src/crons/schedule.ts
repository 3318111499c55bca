import { ThroughlineError } from "@throughline/ai-core";
import { Cron as Pattern } from "croner";
import { splitFixedTimes } from "./fixed-times.js";
import { nextInterval, parseInterval } from "./interval-schedule.js";

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
