import type { ScheduledOutcome } from "./command.js";
import {
  type CommandPolicy,
  forget,
  type Preemption,
  type Scheduler,
  type SchedulerEffect,
  type SchedulerStep,
  type Sent,
  settle,
  timer,
} from "./scheduler-state.js";

export function isTaken({ sent, observed }: Scheduler): boolean {
  return observed.kind === "running" || (sent !== undefined && sent.phase !== "waiting");
}

export function isSeen({ observed }: Scheduler, { command }: Sent): boolean {
  return observed.kind === "running" && observed.runId === command.id;
}

/** Whatever may go now, goes: at most one at a time. */
export function dispatch(
  now: Scheduler,
  effects: readonly SchedulerEffect[],
  policy: CommandPolicy,
): SchedulerStep {
  if (now.preemption) {
    const { command, unheard } = now.preemption;
    if (isTaken(now) || (command.kind === "stop" && unheard.length > 0)) return [now, effects];
    return release(now, now.preemption, effects, policy);
  }
  if (now.sent) return [now, effects];
  // A thread that another client's run holds is worth asking for a run, never for a sync, which would only come back.
  const [first, ...rest] = now.queue;
  const goes = first && (now.observed.kind === "idle" || first.busy.kind !== "queue");
  if (goes) return send({ ...now, queue: rest }, first, effects);
  if (now.sync && now.observed.kind === "idle") return send({ ...now, sync: undefined }, now.sync, effects);
  // A refusal may name a run whose end we saw before it, and that end is not told again.
  const waits = first !== undefined || now.sync !== undefined;
  return [now, waits ? [...effects, timer("ask", policy.askMs)] : effects];
}

/** The thread is free for what preempted it. */
function release(
  now: Scheduler,
  { command }: Preemption,
  effects: readonly SchedulerEffect[],
  policy: CommandPolicy,
): SchedulerStep {
  const free: Scheduler = { ...now, preemption: undefined };
  const told = [...effects, timer("stop")];
  if (command.kind === "fire") return send(free, command, told);
  return dispatch(free, [...told, settle(command.id, { kind: "stopped" })], policy);
}

export function send(
  now: Scheduler,
  command: Sent["command"],
  effects: readonly SchedulerEffect[],
): SchedulerStep {
  const sent: Sent = { command, phase: "sending", tries: 0, resends: 0, waitMs: 0 };
  return [{ ...now, sent }, [...effects, { kind: "send", command }]];
}

export function resend(now: Scheduler, sent: Sent, effects: readonly SchedulerEffect[]): SchedulerStep {
  const next: Scheduler = { ...now, sent: { ...sent, phase: "sending" } };
  return [next, [...effects, { kind: "send", command: sent.command }]];
}

export function wait(
  now: Scheduler,
  sent: Sent,
  afterMs: number,
  policy: CommandPolicy,
  effects: readonly SchedulerEffect[] = [],
): SchedulerStep {
  const next: Scheduler = { ...now, sent: { ...sent, phase: "waiting" } };
  return dispatch(next, [...effects, timer("send", afterMs)], policy);
}

export function finish(
  now: Scheduler,
  sent: Sent,
  outcome: ScheduledOutcome,
  policy: CommandPolicy,
  effects: readonly SchedulerEffect[] = [],
): SchedulerStep {
  const told = sent.command.kind === "sync" ? forget(now) : [];
  return dispatch(
    { ...now, sent: undefined },
    [...effects, ...told, settle(sent.command.id, outcome)],
    policy,
  );
}
