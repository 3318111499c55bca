import type { Command } from "./command.js";
import { dispatch } from "./dispatch.js";
import {
  type CommandPolicy,
  type Scheduler,
  type SchedulerEffect,
  type SchedulerStep,
  stopRun,
  timer,
} from "./scheduler-state.js";

/** What another tab had under way, for a shell that goes on with it. */
export interface HandedCommands {
  readonly commands: readonly Command[];
  readonly goOn: (policy: CommandPolicy) => SchedulerStep;
}

/** Apart from the shell, so that a page that does not share with other tabs does not download it. */
export function handedCommands(handed: Scheduler): HandedCommands {
  return { commands: commandsOf(handed), goOn: (policy) => adoptScheduler(handed, policy) };
}

/**
 * Goes on with what another tab had under way. Nothing is sent a second time for that: what was on its way counts as arrived
 * until it is missed, and stops that were not heard are asked for again.
 */
function adoptScheduler(handed: Scheduler, policy: CommandPolicy): SchedulerStep {
  const { sent, preemption, unconfirmed } = handed;
  const next: Scheduler =
    sent?.phase === "sending" ? { ...handed, sent: { ...sent, phase: "running" } } : handed;
  const effects: SchedulerEffect[] = [];
  if (next.sent?.phase === "running") effects.push(timer("track", policy.trackMs));
  if (next.sent?.phase === "waiting")
    effects.push(timer("send", Math.max(next.sent.waitMs, policy.sendRetryMs)));
  if (preemption) effects.push(...preemption.unheard.map(stopRun), timer("stop", policy.stopMs));
  if (unconfirmed) effects.push(timer("confirm", policy.confirmMs));
  return dispatch(next, effects, policy);
}

/** All that has no outcome yet. An unconfirmed `sync` is known by its id alone. */
function commandsOf({ sent, preemption, sync, queue }: Scheduler): readonly Command[] {
  return [sent?.command, preemption?.command, sync, ...queue].filter((command) => command !== undefined);
}
