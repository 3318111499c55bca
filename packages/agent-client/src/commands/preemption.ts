import type { Command, ScheduledOutcome } from "./command.js";
import { awaitConfirmation, dispatch, isTaken, send } from "./dispatch.js";
import {
  type CommandPolicy,
  type Preemption,
  type Scheduler,
  type SchedulerEffect,
  type SchedulerStep,
  type Sent,
  settle,
  stopRun,
  superseded,
  timer,
} from "./scheduler-state.js";

export function preempt(
  now: Scheduler,
  command: Extract<Command, { kind: "stop" | "fire" }>,
  policy: CommandPolicy,
): SchedulerStep {
  const replaced = now.preemption ? [superseded(now.preemption.command, command)] : [];
  const inTheWay = runsInTheWay(now);
  // Nothing is seen to run, which does not say that nothing does (docs/requirements.md#client-6).
  const named = inTheWay.length > 0 || command.kind === "fire" ? inTheWay : [undefined];
  // What was only waiting to be sent again must not be sent behind our back.
  const [freed, dropped] = dropWaiting({ ...now, preemption: { command, unheard: named } });
  const effects = [...replaced, ...dropped, ...named.map(stopRun)];
  if (command.kind === "fire" && !isTaken(freed)) return dispatch(freed, effects, policy);
  return dispatch(freed, [...effects, timer("stop", policy.stopMs)], policy);
}

export function heard(
  now: Scheduler,
  preemption: Preemption,
  runId: string | undefined,
  policy: CommandPolicy,
): SchedulerStep {
  const unheard = preemption.unheard.filter((id) => id !== runId);
  return dispatch({ ...now, preemption: { ...preemption, unheard } }, [], policy);
}

/** A run that turns out to be in the way of a stop or a fire is stopped as well. */
export function stopToo(
  now: Scheduler,
  preemption: Preemption,
  runId: string | undefined,
): readonly [Scheduler, SchedulerEffect] {
  const unheard = [...preemption.unheard, runId];
  return [{ ...now, preemption: { ...preemption, unheard } }, stopRun(runId)];
}

/**
 * A run that is being sent, or may have arrived, is stopped by the id we gave it, so that a stop may overtake it (R25). What
 * else is seen to run is in the way as well.
 */
export function runsInTheWay({ sent, observed }: Scheduler): readonly (string | undefined)[] {
  const mayRun = sent && (sent.phase !== "waiting" || sent.resends > 0);
  const ours = mayRun ? [sent.command.id] : [];
  if (observed.kind === "idle" || ours.some((id) => id === observed.runId)) return ours;
  return [...ours, observed.runId];
}

function dropWaiting(now: Scheduler): readonly [Scheduler, readonly SchedulerEffect[]] {
  const { sent, observed } = now;
  if (sent?.phase !== "waiting") return [now, []];
  const inTheWay = observed.kind === "running" ? observed.runId : undefined;
  const outcome: ScheduledOutcome =
    sent.resends > 0 ? { kind: "unreachable" } : { kind: "busy", runId: inTheWay };
  const [next, told] = takeBack(now, sent, outcome);
  return [next, [timer("send"), ...told]];
}

/** What was sent is not any more. A `sync` waits for its turn again, unless a newer one does. */
function takeBack(
  now: Scheduler,
  { command }: Sent,
  outcome: ScheduledOutcome,
): readonly [Scheduler, readonly SchedulerEffect[]] {
  const free: Scheduler = { ...now, sent: undefined };
  if (command.kind !== "sync") return [free, [settle(command.id, outcome)]];
  return now.sync ? [free, [superseded(command, now.sync)]] : [{ ...free, sync: command }, []];
}

/** A stop or a fire came while this was on its way. */
export function giveWay(
  now: Scheduler,
  sent: Sent,
  outcome: ScheduledOutcome,
  policy: CommandPolicy,
  effects: readonly SchedulerEffect[] = [],
): SchedulerStep {
  const [next, told] = takeBack(now, sent, outcome);
  return dispatch(next, [...effects, ...told], policy);
}

/** It was given its time. */
export function stopWaiting(
  now: Scheduler,
  { command, unheard }: Preemption,
  policy: CommandPolicy,
): SchedulerStep {
  const free: Scheduler = { ...now, preemption: undefined };
  if (command.kind === "stop")
    return dispatch(
      free,
      [settle(command.id, { kind: unheard.length === 0 ? "stopped" : "unreachable" })],
      policy,
    );
  // The service decides whether the thread is free; what we last saw of it is no reason to wait on.
  const [alone, effects] = abandon({ ...free, observed: { kind: "idle" } }, policy);
  return send(alone, command, effects);
}

/** What was under way when its thread was taken from it, and never told how it ended. */
function abandon(now: Scheduler, policy: CommandPolicy): SchedulerStep {
  const { sent } = now;
  if (!sent) return [now, []];
  if (sent.command.kind === "sync") return awaitConfirmation(now, sent.command.id, policy);
  const outcome: ScheduledOutcome =
    sent.phase === "running" ? { kind: "done", status: "cancelled" } : { kind: "unreachable" };
  return [{ ...now, sent: undefined }, [settle(sent.command.id, outcome)]];
}
