import type { Command } from "./command.js";
import { dispatch } from "./dispatch.js";
import {
  type CommandPolicy,
  type SchedulerEffect,
  type SchedulerState,
  type SchedulerStep,
  stopRun,
  timer,
} from "./scheduler-state.js";

/** Commands that another tab had under way, for a scheduler that continues them. */
export interface HandedCommands {
  readonly commands: readonly Command[];
  readonly resume: (policy: CommandPolicy) => SchedulerStep;
}

/** A module of its own, so that a page that does not share with other tabs does not download it. */
export function handedCommands(handed: SchedulerState): HandedCommands {
  return { commands: commandsOf(handed), resume: (policy) => adoptScheduler(handed, policy) };
}

/**
 * Continues the commands of another tab. None is resent for that: a command in flight counts as arrived until its run is missed.
 * Stops that were not acknowledged are requested again.
 */
function adoptScheduler(handed: SchedulerState, policy: CommandPolicy): SchedulerStep {
  const { sent, preemption, unconfirmed } = handed;
  const next: SchedulerState =
    sent?.phase === "sending" ? { ...handed, sent: { ...sent, phase: "running" } } : handed;
  const effects: SchedulerEffect[] = [];
  if (next.sent?.phase === "running") effects.push(timer("track", policy.trackMs));
  if (next.sent?.phase === "waiting")
    effects.push(timer("send", Math.max(next.sent.waitMs, policy.sendRetryMs)));
  if (preemption) effects.push(...preemption.unheard.map(stopRun), timer("stop", policy.stopMs));
  if (unconfirmed) effects.push(timer("confirm", policy.confirmMs));
  return dispatch(next, effects, policy);
}

/** The commands that have no outcome yet. An unconfirmed `sync` is known by its id alone. */
function commandsOf({ sent, preemption, sync, queue }: SchedulerState): readonly Command[] {
  return [sent?.command, preemption?.command, sync, ...queue].filter((command) => command !== undefined);
}
