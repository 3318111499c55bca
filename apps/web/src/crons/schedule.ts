/** A schedule in plain words; `custom` is cron syntax without any. */
export type SchedulePlan =
  | { readonly kind: "interval"; readonly count: number; readonly unit: IntervalUnit }
  | { readonly kind: "hourly"; readonly minute: number }
  | { readonly kind: "daily"; readonly time: ClockTime }
  | { readonly kind: "weekdays"; readonly time: ClockTime }
  | { readonly kind: "weekly"; readonly day: number; readonly time: ClockTime }
  | { readonly kind: "monthly"; readonly dayOfMonth: number; readonly time: ClockTime }
  | { readonly kind: "custom"; readonly schedule: string };

export type IntervalUnit = "s" | "min" | "h" | "d";

export interface ClockTime {
  readonly hour: number;
  readonly minute: number;
}

export const WEEKDAYS = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
] as const;

const UNIT_NAMES: Readonly<Record<IntervalUnit, readonly string[]>> = {
  s: ["s", "sec", "second", "seconds"],
  min: ["m", "min", "minute", "minutes"],
  h: ["h", "hour", "hours"],
  d: ["d", "day", "days"],
};
const UNITS: readonly IntervalUnit[] = ["s", "min", "h", "d"];

/** Converts a plan to the syntax that the service accepts. */
export function scheduleOf(plan: SchedulePlan): string {
  switch (plan.kind) {
    case "interval":
      return `every ${plan.count} ${plan.unit}`;
    case "hourly":
      return `${plan.minute} * * * *`;
    case "daily":
      return `${plan.time.minute} ${plan.time.hour} * * *`;
    case "weekdays":
      return `${plan.time.minute} ${plan.time.hour} * * 1-5`;
    case "weekly":
      return `${plan.time.minute} ${plan.time.hour} * * ${plan.day}`;
    case "monthly":
      return `${plan.time.minute} ${plan.time.hour} ${plan.dayOfMonth} * *`;
    case "custom":
      return plan.schedule;
  }
}

/** Parses a schedule to the plainest plan with the same meaning; `custom` where there is none. */
export function planOf(schedule: string): SchedulePlan {
  const custom: SchedulePlan = { kind: "custom", schedule };
  const text = schedule.trim();
  const interval = /^every\s+(?:(\d{1,8})\s*)?([a-z]+)$/i.exec(text);
  if (interval) {
    const unit = UNITS.find((one) => UNIT_NAMES[one].includes(interval[2]?.toLowerCase() ?? ""));
    const count = Number(interval[1] ?? 1);
    return unit && count > 0 ? { kind: "interval", count, unit } : custom;
  }
  const fields = text.split(/\s+/);
  if (fields.length !== 5) return custom;
  const [minuteText = "", hourText = "", dayOfMonth = "", month = "", day = ""] = fields;
  const minute = wholeNumber(minuteText, 0, 59);
  if (minute === undefined || month !== "*") return custom;
  if (hourText === "*" && dayOfMonth === "*" && day === "*") return { kind: "hourly", minute };
  const hour = wholeNumber(hourText, 0, 23);
  if (hour === undefined) return custom;
  const time = { hour, minute };
  if (dayOfMonth !== "*") {
    const number = wholeNumber(dayOfMonth, 1, 31);
    return number !== undefined && day === "*" ? { kind: "monthly", dayOfMonth: number, time } : custom;
  }
  if (day === "*") return { kind: "daily", time };
  if (/^(1-5|mon-fri)$/i.test(day)) return { kind: "weekdays", time };
  const weekday = weekdayOf(day);
  return weekday === undefined ? custom : { kind: "weekly", day: weekday, time };
}

/** Describes a schedule within a sentence: "every 10 seconds", "on weekdays at 09:00". Returns other cron syntax unchanged. */
export function scheduleText(schedule: string): string {
  const plan = planOf(schedule);
  switch (plan.kind) {
    case "interval":
      return intervalText(plan.count, plan.unit);
    case "hourly":
      return plan.minute === 0 ? "every hour, on the hour" : `every hour, at ${plan.minute} past`;
    case "daily":
      return `every day at ${formatClock(plan.time)}`;
    case "weekdays":
      return `on weekdays at ${formatClock(plan.time)}`;
    case "weekly":
      return `every ${WEEKDAYS[plan.day]} at ${formatClock(plan.time)}`;
    case "monthly":
      return `on day ${plan.dayOfMonth} of every month at ${formatClock(plan.time)}`;
    case "custom":
      return plan.schedule;
  }
}

/** Formats a time as the value of a time input. */
export function formatClock({ hour, minute }: ClockTime): string {
  return `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
}

export function readClock(text: string): ClockTime | undefined {
  const [hour, minute] = text.split(":");
  const time = { hour: wholeNumber(hour ?? "", 0, 23), minute: wholeNumber(minute ?? "", 0, 59) };
  return time.hour === undefined || time.minute === undefined
    ? undefined
    : { hour: time.hour, minute: time.minute };
}

/** Whether the time zone matters; intervals are the same everywhere. */
export function dependsOnTimeZone(schedule: string): boolean {
  return !/^\s*every\b/i.test(schedule);
}

function intervalText(count: number, unit: IntervalUnit): string {
  const name = { s: "second", min: "minute", h: "hour", d: "day" }[unit];
  return count === 1 ? `every ${name}` : `every ${count} ${name}s`;
}

function weekdayOf(text: string): number | undefined {
  const number = wholeNumber(text, 0, 7);
  // Cron accepts both 0 and 7 for Sunday.
  if (number !== undefined) return number % 7;
  const index = WEEKDAYS.findIndex((name) => name.slice(0, 3).toLowerCase() === text.toLowerCase());
  return index < 0 ? undefined : index;
}

function wholeNumber(text: string, least: number, most: number): number | undefined {
  if (!/^\d{1,2}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= least && value <= most ? value : undefined;
}
