import { toWireError } from "@throughline/ai-core";
import type { Cron, CronTick, TickOutcome } from "./cron.js";
import { jitterOf, parseSchedule, type Schedule } from "./schedule.js";

/** Later than this a tick is not late but missed: no instance was there for it. */
export const LATE_MS = 60_000;
/** Past this it makes no difference how many there were. */
export const MAX_COUNTED = 100;

export type NextTime = Pick<Cron, "nextAt" | "dueAt">;

export interface TickPlan {
  readonly scheduledAt: number;
  readonly fires: boolean;
  /** Scheduled times that are left out, counted up to `MAX_COUNTED`. */
  readonly missed: number;
  readonly next: NextTime;
}

/** The cron's next due time after `at`. */
export function nextTime(cron: Pick<Cron, "id" | "definition" | "anchorAt">, at: number): NextTime {
  const schedule = scheduleOf(cron);
  return cron.definition.enabled ? withJitter(cron, schedule, schedule.after(at)) : NEVER;
}

/**
 * Plans the tick of a due cron. Of several times that have passed only the latest can run, once: a schedule requests that
 * something happens regularly, not that it happens often.
 */
export function planTick(cron: Cron, now: number): TickPlan | undefined {
  const { nextAt: first, definition } = cron;
  if (first === undefined) return undefined;
  const schedule = scheduleOf(cron);
  const dueAt = (time: number) => withJitter(cron, schedule, time).dueAt ?? time;
  if (dueAt(first) > now) return undefined;
  let latest = latestUpTo(schedule, first, now);
  if (dueAt(latest) > now) latest = latestUpTo(schedule, first, latest - 1);
  const fires = definition.missed === "run_once" || now - dueAt(latest) <= LATE_MS;
  const before = countUpTo(schedule, first, latest);
  return {
    scheduledAt: latest,
    fires,
    missed: fires ? before : Math.min(before + 1, MAX_COUNTED),
    next: withJitter(cron, schedule, schedule.after(latest)),
  };
}

const NEVER: NextTime = { nextAt: undefined, dueAt: undefined };

function scheduleOf({ definition, anchorAt }: Pick<Cron, "definition" | "anchorAt">): Schedule {
  return parseSchedule({ schedule: definition.schedule, timeZone: definition.timeZone, anchorAt });
}

/** Never as late as the time after it: jitter spreads ticks, it does not reorder them. */
function withJitter(
  { id, definition }: Pick<Cron, "id" | "definition">,
  schedule: Schedule,
  nextAt: number | undefined,
): NextTime {
  if (nextAt === undefined) return NEVER;
  if (definition.jitterMs === 0) return { nextAt, dueAt: nextAt };
  const gap = (schedule.after(nextAt) ?? Number.POSITIVE_INFINITY) - nextAt;
  return { nextAt, dueAt: nextAt + jitterOf(id, nextAt, Math.min(definition.jitterMs, gap)) };
}

/** The latest scheduled time in [first, until]. Looks back from the end, further each time: the way may be long. */
function latestUpTo(schedule: Schedule, first: number, until: number): number {
  for (let reach = 1_000; until - reach > first; reach *= 8) {
    const found = schedule.after(until - reach);
    if (found !== undefined && found <= until) return lastFrom(schedule, found, until);
  }
  return lastFrom(schedule, first, until);
}

function lastFrom(schedule: Schedule, from: number, until: number): number {
  let last = from;
  for (let next = schedule.after(from); next !== undefined && next <= until; next = schedule.after(next)) {
    last = next;
  }
  return last;
}

/** How many scheduled times lie in [first, end). */
function countUpTo(schedule: Schedule, first: number, end: number): number {
  let count = 0;
  for (let time: number | undefined = first; time !== undefined && time < end; time = schedule.after(time)) {
    count += 1;
    if (count >= MAX_COUNTED) break;
  }
  return count;
}

/** The result of claiming a cron that is due: its tick, if there is one, and the cron with its next time. */
export interface CronClaim {
  readonly cron: Cron;
  readonly tick: CronTick | undefined;
}

export function claimCron(cron: Cron, now: number): CronClaim {
  try {
    const plan = planTick(cron, now);
    if (!plan) return { cron, tick: undefined };
    const id = new Date(plan.scheduledAt).toISOString();
    const outcome: TickOutcome = { kind: plan.fires ? "pending" : "missed" };
    const tick = newTick(cron, { id, scheduledAt: plan.scheduledAt, now, missed: plan.missed, outcome });
    return { cron: { ...cron, ...plan.next }, tick };
  } catch (error) {
    // The schedule was accepted once and can't be computed now, for example because this machine's tables lack its time
    // zone. The cron is no longer due: otherwise it would fail every claim, and with it the crons of everyone else.
    const { code, message } = toWireError(error);
    const outcome: TickOutcome = { kind: "failed", code, message };
    const tick = newTick(cron, {
      id: new Date(now).toISOString(),
      scheduledAt: now,
      now,
      missed: 0,
      outcome,
    });
    return { cron: { ...cron, nextAt: undefined, dueAt: undefined }, tick };
  }
}

/** A tick that a caller started manually. */
export function manualTick(cron: Cron, now: number, id: string): CronTick {
  return newTick(cron, { id, scheduledAt: now, now, missed: 0, outcome: { kind: "pending" } });
}

/** R25: the run's alias. However often a tick is delivered, and by which instance, it is one run. */
export function tickAlias({ cronId, id }: Pick<CronTick, "cronId" | "id">): string {
  return `cron:${cronId}:${id}`;
}

interface TickParts {
  readonly id: string;
  readonly scheduledAt: number;
  readonly now: number;
  readonly missed: number;
  readonly outcome: TickOutcome;
}

function newTick(cron: Cron, { id, scheduledAt, now, missed, outcome }: TickParts): CronTick {
  return {
    cronId: cron.id,
    id,
    scheduledAt,
    claimedAt: now,
    agent: cron.definition.agent,
    threadName: cron.definition.threadName ?? `cron ${cron.id} ${id}`,
    missed,
    attempt: 0,
    outcome,
  };
}
