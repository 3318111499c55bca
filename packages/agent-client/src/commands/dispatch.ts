import type { ScheduledOutcome } from "./command.js";
import { isNewer } from "./mutation-ids.js";
import {
  type CommandPolicy,
  type EndStatus,
  forget,
  type Preemption,
  type Scheduler,
  type SchedulerEffect,
  type SchedulerStep,
  type Sent,
  settle,
  timer,
  unwatched,
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

export function ended(now: Scheduler, id: string, status: EndStatus, policy: CommandPolicy): SchedulerStep {
  const isIdle = now.observed.kind === "running" && now.observed.runId === id;
  const next: Scheduler = isIdle ? { ...now, observed: { kind: "idle" } } : now;
  return now.sent?.command.id === id ? over(next, now.sent, status, policy) : dispatch(next, [], policy);
}

/** Its run is over. */
function over(
  now: Scheduler,
  sent: Sent,
  status: Extract<ScheduledOutcome, { kind: "done" }>["status"],
  policy: CommandPolicy,
): SchedulerStep {
  if (sent.command.kind !== "sync") return finish(now, sent, { kind: "done", status }, policy, unwatched);
  if (now.lastConfirmed === sent.command.id)
    return finish(now, sent, { kind: "confirmed" }, policy, unwatched);
  const [next, effects] = awaitConfirmation(now, sent.command.id, policy);
  return dispatch(next, [...unwatched, ...effects], policy);
}

/** The acknowledgement may come by another stream, a moment behind the end. */
export function awaitConfirmation(now: Scheduler, id: string, policy: CommandPolicy): SchedulerStep {
  const before = now.unconfirmed ? [settle(now.unconfirmed.id, { kind: "unconfirmed" })] : [];
  return [
    { ...now, sent: undefined, unconfirmed: { id } },
    [...before, ...forget(now), timer("confirm", policy.confirmMs)],
  ];
}

export function confirmed(now: Scheduler, id: string, policy: CommandPolicy): SchedulerStep {
  const next: Scheduler = { ...now, lastConfirmed: id };
  const told = settle(id, { kind: "confirmed" });
  if (now.unconfirmed?.id === id) return [{ ...next, unconfirmed: undefined }, [timer("confirm"), told]];
  // Sent before a reload, and applied: sending it again would apply it twice. An older one would undo what is newer.
  if (now.sync && (now.sync.id === id || isNewer(id, now.sync.id))) {
    const free: Scheduler = { ...next, sync: undefined };
    const outcome = now.sync.id === id ? told : settle(now.sync.id, { kind: "superseded", by: id });
    return dispatch(free, [...forget(free), outcome], policy);
  }
  // Its run may go on; the thread is seen to be taken for as long as it does.
  if (now.sent?.command.id === id && now.sent.command.kind === "sync")
    return finish(next, now.sent, { kind: "confirmed" }, policy, unwatched);
  // It waits to be sent again, behind a newer one that another client sent.
  if (now.sent?.command.kind === "sync" && now.sent.phase === "waiting" && isNewer(id, now.sent.command.id))
    return finish(next, now.sent, { kind: "superseded", by: id }, policy, unwatched);
  return [next, []];
}

/** Accepted, and not what we see running. Asked for again it is the same run, and the instance that answers may know its end. */
export function track(now: Scheduler, policy: CommandPolicy): SchedulerStep {
  const { sent } = now;
  if (sent?.phase !== "running" || isSeen(now, sent)) return [now, []];
  if (sent.resends >= policy.sendRetries) return over(now, sent, "unknown", policy);
  return resend(now, { ...sent, resends: sent.resends + 1 }, []);
}
