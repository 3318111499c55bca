import type { ScheduledOutcome } from "./command.js";
import { isNewer } from "./mutation-ids.js";
import {
  type CommandPolicy,
  complete,
  type EndStatus,
  forget,
  type InFlightCommand,
  type Preemption,
  type SchedulerEffect,
  type SchedulerState,
  type SchedulerStep,
  timer,
  unwatched,
} from "./scheduler-state.js";

export function isOccupied({ sent, observed }: SchedulerState): boolean {
  return observed.kind === "running" || (sent !== undefined && sent.phase !== "waiting");
}

export function isSeen({ observed }: SchedulerState, { command }: InFlightCommand): boolean {
  return observed.kind === "running" && observed.runId === command.id;
}

/** Sends the next command that may be sent now: at most one at a time. */
export function dispatch(
  now: SchedulerState,
  effects: readonly SchedulerEffect[],
  policy: CommandPolicy,
): SchedulerStep {
  if (now.preemption) {
    const { command, unheard } = now.preemption;
    if (isOccupied(now) || (command.kind === "stop" && unheard.length > 0)) return [now, effects];
    return release(now, now.preemption, effects, policy);
  }
  if (now.sent) return [now, effects];
  // On a thread that another client's run occupies, a run is worth a request; a sync never is, since it would only be refused.
  const [first, ...rest] = now.queue;
  const goes = first && (now.observed.kind === "idle" || first.busy.kind !== "queue");
  if (goes) return send({ ...now, queue: rest }, first, effects);
  if (now.sync && now.observed.kind === "idle") return send({ ...now, sync: undefined }, now.sync, effects);
  // A refusal may name a run whose end was observed before it, and that end is not reported again.
  const waits = first !== undefined || now.sync !== undefined;
  return [now, waits ? [...effects, timer("ask", policy.askMs)] : effects];
}

/** Continues with the preempting command, now that the thread is free. */
function release(
  now: SchedulerState,
  { command }: Preemption,
  effects: readonly SchedulerEffect[],
  policy: CommandPolicy,
): SchedulerStep {
  const free: SchedulerState = { ...now, preemption: undefined };
  const cleared = [...effects, timer("stop")];
  if (command.kind === "fire") return send(free, command, cleared);
  return dispatch(free, [...cleared, complete(command.id, { kind: "stopped" })], policy);
}

export function send(
  now: SchedulerState,
  command: InFlightCommand["command"],
  effects: readonly SchedulerEffect[],
): SchedulerStep {
  const sent: InFlightCommand = { command, phase: "sending", tries: 0, resends: 0, waitMs: 0 };
  return [{ ...now, sent }, [...effects, { kind: "send", command }]];
}

export function resend(
  now: SchedulerState,
  sent: InFlightCommand,
  effects: readonly SchedulerEffect[],
): SchedulerStep {
  const next: SchedulerState = { ...now, sent: { ...sent, phase: "sending" } };
  return [next, [...effects, { kind: "send", command: sent.command }]];
}

export function wait(
  now: SchedulerState,
  sent: InFlightCommand,
  afterMs: number,
  policy: CommandPolicy,
  effects: readonly SchedulerEffect[] = [],
): SchedulerStep {
  const next: SchedulerState = { ...now, sent: { ...sent, phase: "waiting" } };
  return dispatch(next, [...effects, timer("send", afterMs)], policy);
}

export function finish(
  now: SchedulerState,
  sent: InFlightCommand,
  outcome: ScheduledOutcome,
  policy: CommandPolicy,
  effects: readonly SchedulerEffect[] = [],
): SchedulerStep {
  const forgotten = sent.command.kind === "sync" ? forget(now) : [];
  return dispatch(
    { ...now, sent: undefined },
    [...effects, ...forgotten, complete(sent.command.id, outcome)],
    policy,
  );
}

export function ended(
  now: SchedulerState,
  id: string,
  status: EndStatus,
  policy: CommandPolicy,
): SchedulerStep {
  const isIdle = now.observed.kind === "running" && now.observed.runId === id;
  const next: SchedulerState = isIdle ? { ...now, observed: { kind: "idle" } } : now;
  return now.sent?.command.id === id ? over(next, now.sent, status, policy) : dispatch(next, [], policy);
}

/** Completes a command whose run is over. */
function over(
  now: SchedulerState,
  sent: InFlightCommand,
  status: Extract<ScheduledOutcome, { kind: "done" }>["status"],
  policy: CommandPolicy,
): SchedulerStep {
  if (sent.command.kind !== "sync") return finish(now, sent, { kind: "done", status }, policy, unwatched);
  if (now.lastConfirmed === sent.command.id)
    return finish(now, sent, { kind: "confirmed" }, policy, unwatched);
  const [next, effects] = awaitConfirmation(now, sent.command.id, policy);
  return dispatch(next, [...unwatched, ...effects], policy);
}

/** Waits for the state to acknowledge a `sync`: the acknowledgement may come by another stream, a moment after the run's end. */
export function awaitConfirmation(now: SchedulerState, id: string, policy: CommandPolicy): SchedulerStep {
  const before = now.unconfirmed ? [complete(now.unconfirmed.id, { kind: "unconfirmed" })] : [];
  return [
    { ...now, sent: undefined, unconfirmed: { id } },
    [...before, ...forget(now), timer("confirm", policy.confirmMs)],
  ];
}

export function confirmed(now: SchedulerState, id: string, policy: CommandPolicy): SchedulerStep {
  const next: SchedulerState = { ...now, lastConfirmed: id };
  const completed = complete(id, { kind: "confirmed" });
  if (now.unconfirmed?.id === id) return [{ ...next, unconfirmed: undefined }, [timer("confirm"), completed]];
  // Sent before a reload, and applied: resending it would apply it twice. An older one would undo the newer one.
  if (now.sync && (now.sync.id === id || isNewer(id, now.sync.id))) {
    const free: SchedulerState = { ...next, sync: undefined };
    const outcome = now.sync.id === id ? completed : complete(now.sync.id, { kind: "superseded", by: id });
    return dispatch(free, [...forget(free), outcome], policy);
  }
  // Its run may continue; the thread is observed as busy until it ends.
  if (now.sent?.command.id === id && now.sent.command.kind === "sync")
    return finish(next, now.sent, { kind: "confirmed" }, policy, unwatched);
  // It waits to be resent, and another client sent a newer one meanwhile.
  if (now.sent?.command.kind === "sync" && now.sent.phase === "waiting" && isNewer(id, now.sent.command.id))
    return finish(next, now.sent, { kind: "superseded", by: id }, policy, unwatched);
  return [next, []];
}

/** Resends an accepted command whose run is not observed. It is the same run, and the responding instance may know its end. */
export function track(now: SchedulerState, policy: CommandPolicy): SchedulerStep {
  const { sent } = now;
  if (sent?.phase !== "running" || isSeen(now, sent)) return [now, []];
  if (sent.resends >= policy.sendRetries) return over(now, sent, "unknown", policy);
  return resend(now, { ...sent, resends: sent.resends + 1 }, []);
}
