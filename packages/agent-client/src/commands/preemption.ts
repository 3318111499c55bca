import type { Command, ScheduledOutcome } from "./command.js";
import { awaitConfirmation, dispatch, isOccupied, send } from "./dispatch.js";
import {
  type CommandPolicy,
  complete,
  type InFlightCommand,
  type Preemption,
  type SchedulerEffect,
  type SchedulerState,
  type SchedulerStep,
  stopRun,
  superseded,
  timer,
} from "./scheduler-state.js";

export function preempt(
  now: SchedulerState,
  command: Extract<Command, { kind: "stop" | "fire" }>,
  policy: CommandPolicy,
): SchedulerStep {
  const replaced = now.preemption ? [superseded(now.preemption.command, command)] : [];
  const inTheWay = runsInTheWay(now);
  // No run is observed, which does not prove that none is active (docs/requirements.md#client-6).
  const named = inTheWay.length > 0 || command.kind === "fire" ? inTheWay : [undefined];
  // A command that waits to be resent must not be sent after the stop.
  const [freed, dropped] = dropWaiting({ ...now, preemption: { command, unheard: named } });
  const effects = [...replaced, ...dropped, ...named.map(stopRun)];
  if (command.kind === "fire" && !isOccupied(freed)) return dispatch(freed, effects, policy);
  return dispatch(freed, [...effects, timer("stop", policy.stopMs)], policy);
}

export function stopAcknowledged(
  now: SchedulerState,
  preemption: Preemption,
  runId: string | undefined,
  policy: CommandPolicy,
): SchedulerStep {
  const unheard = preemption.unheard.filter((id) => id !== runId);
  return dispatch({ ...now, preemption: { ...preemption, unheard } }, [], policy);
}

/** Stops another run that turns out to be in the way of a stop or a fire. */
export function alsoStop(
  now: SchedulerState,
  preemption: Preemption,
  runId: string | undefined,
): readonly [SchedulerState, SchedulerEffect] {
  const unheard = [...preemption.unheard, runId];
  return [{ ...now, preemption: { ...preemption, unheard } }, stopRun(runId)];
}

/**
 * Returns the runs that a stop must end. A run that is being sent, or may have arrived, is stopped by its client run id, so that a
 * stop may overtake it (R25). Another run that is observed is in the way as well.
 */
export function runsInTheWay({ sent, observed }: SchedulerState): readonly (string | undefined)[] {
  const mayRun = sent && (sent.phase !== "waiting" || sent.resends > 0);
  const ours = mayRun ? [sent.command.id] : [];
  if (observed.kind === "idle" || ours.some((id) => id === observed.runId)) return ours;
  return [...ours, observed.runId];
}

function dropWaiting(now: SchedulerState): readonly [SchedulerState, readonly SchedulerEffect[]] {
  const { sent, observed } = now;
  if (sent?.phase !== "waiting") return [now, []];
  const inTheWay = observed.kind === "running" ? observed.runId : undefined;
  const outcome: ScheduledOutcome =
    sent.resends > 0 ? { kind: "unreachable" } : { kind: "busy", runId: inTheWay };
  const [next, withdrawn] = withdraw(now, sent, outcome);
  return [next, [timer("send"), ...withdrawn]];
}

/** Withdraws the in-flight command. A `sync` returns to its slot, unless a newer one is there. */
function withdraw(
  now: SchedulerState,
  { command }: InFlightCommand,
  outcome: ScheduledOutcome,
): readonly [SchedulerState, readonly SchedulerEffect[]] {
  const free: SchedulerState = { ...now, sent: undefined };
  if (command.kind !== "sync") return [free, [complete(command.id, outcome)]];
  return now.sync ? [free, [superseded(command, now.sync)]] : [{ ...free, sync: command }, []];
}

/** Withdraws a command that was in flight when a stop or a fire was submitted. */
export function yieldToPreemption(
  now: SchedulerState,
  sent: InFlightCommand,
  outcome: ScheduledOutcome,
  policy: CommandPolicy,
  effects: readonly SchedulerEffect[] = [],
): SchedulerStep {
  const [next, withdrawn] = withdraw(now, sent, outcome);
  return dispatch(next, [...effects, ...withdrawn], policy);
}

/** Ends a preemption whose stop did not complete in time. */
export function preemptionTimeout(
  now: SchedulerState,
  { command, unheard }: Preemption,
  policy: CommandPolicy,
): SchedulerStep {
  const free: SchedulerState = { ...now, preemption: undefined };
  if (command.kind === "stop")
    return dispatch(
      free,
      [complete(command.id, { kind: unheard.length === 0 ? "stopped" : "unreachable" })],
      policy,
    );
  // The service decides whether the thread is free; the last observation is no reason to wait longer.
  const [alone, effects] = abandon({ ...free, observed: { kind: "idle" } }, policy);
  return send(alone, command, effects);
}

/** Completes the preempted command, whose end was never reported. */
function abandon(now: SchedulerState, policy: CommandPolicy): SchedulerStep {
  const { sent } = now;
  if (!sent) return [now, []];
  if (sent.command.kind === "sync") return awaitConfirmation(now, sent.command.id, policy);
  const outcome: ScheduledOutcome =
    sent.phase === "running" ? { kind: "done", status: "cancelled" } : { kind: "unreachable" };
  return [{ ...now, sent: undefined }, [complete(sent.command.id, outcome)]];
}
