import { toWireError } from "@throughline/ai-core";
import type { Cron, CronTick, TickOutcome } from "./cron.js";
import { planTick } from "./plan-tick.js";

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

/** A tick that a caller asked for. */
export function askedTick(cron: Cron, now: number, id: string): CronTick {
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
