import type { ScheduledOutcome } from "./command.js";
import { dispatch, finish, isSeen, resend } from "./dispatch.js";
import {
  type CommandPolicy,
  type EndStatus,
  forget,
  type Scheduler,
  type SchedulerStep,
  type Sent,
  settle,
  timer,
  unwatched,
} from "./scheduler-state.js";
import { isNewer } from "./sync-order.js";

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
