import type { Answer, ScheduledOutcome } from "./command.js";
import { dispatch, finish, isSeen, wait } from "./dispatch.js";
import { giveWay, stopToo } from "./preempt.js";
import {
  type CommandPolicy,
  type Scheduler,
  type SchedulerStep,
  type Sent,
  stopRun,
  timer,
} from "./scheduler-state.js";

/**
 * A client that is told to send again for as long as it takes would else wait for days, or, past what a timer can count to, not at
 * all: it would ask the service in a loop.
 */
const LONGEST_TRACK_MS = 60_000;

export function answered(now: Scheduler, sent: Sent, answer: Answer, policy: CommandPolicy): SchedulerStep {
  switch (answer.kind) {
    case "accepted":
      return sent.phase === "sending" ? accepted(now, sent, policy) : [now, []];
    case "busy":
      return busy(now, sent, answer, policy);
    case "refused":
      return finish(now, sent, { kind: "refused", code: answer.code, message: answer.message }, policy);
    case "unreachable":
      if (now.preemption) return giveWay(now, sent, { kind: "unreachable" }, policy);
      if (sent.resends >= policy.sendRetries) return finish(now, sent, { kind: "unreachable" }, policy);
      return wait(now, { ...sent, resends: sent.resends + 1 }, policy.sendRetryMs, policy);
  }
}

/** That it runs is for the thread to show: it may be over already, or have been stopped before it began. */
function accepted(now: Scheduler, sent: Sent, policy: CommandPolicy): SchedulerStep {
  const next: Scheduler = { ...now, sent: { ...sent, phase: "running" } };
  if (isSeen(now, sent)) return dispatch(next, [], policy);
  const afterMs = Math.min(policy.trackMs * 2 ** sent.resends, Math.max(policy.trackMs, LONGEST_TRACK_MS));
  const tracked = timer("track", afterMs);
  return dispatch(next, [tracked], policy);
}

/** docs/requirements.md#client-7: an outcome, not an error. Another client's run is watched to its end; then, or after a while, we ask again. */
function busy(
  now: Scheduler,
  sent: Sent,
  { runId, retryAfterMs }: Extract<Answer, { kind: "busy" }>,
  policy: CommandPolicy,
): SchedulerStep {
  const { command } = sent;
  const next = { ...sent, tries: sent.tries + 1 };
  const known: Scheduler = { ...now, observed: { kind: "running", runId } };
  const refused: ScheduledOutcome = { kind: "busy", runId };
  if (now.preemption) {
    const [stopping, stop] = stopToo(known, now.preemption, runId);
    return giveWay(stopping, sent, refused, policy, [stop]);
  }
  switch (command.kind) {
    case "fire":
      if (sent.tries >= policy.fireRetries) return finish(known, sent, refused, policy);
      return wait(known, next, Math.max(policy.fireRetryMs, retryAfterMs ?? 0), policy, [stopRun(runId)]);
    case "sync":
      if (now.sync) return finish(known, sent, { kind: "superseded", by: now.sync.id }, policy);
      return askAgainForSync(known, sent, runId, policy);
    case "run":
      if (command.busy.kind === "queue") {
        const waiting: Scheduler = { ...known, sent: undefined, queue: [command, ...now.queue] };
        return dispatch(waiting, [], policy);
      }
      if (command.busy.kind === "reject" || sent.tries >= command.busy.times)
        return finish(known, sent, refused, policy);
      return wait(known, next, Math.max(command.busy.delayMs, retryAfterMs ?? 0), policy);
  }
}

/** The run in the way will end, however long it takes: only runs that got in before us meanwhile use up our tries. */
function askAgainForSync(
  now: Scheduler,
  sent: Sent,
  runId: string | undefined,
  policy: CommandPolicy,
): SchedulerStep {
  const isSame = runId !== undefined && runId === sent.refusedFor;
  if (isSame) {
    const waitMs = Math.min(policy.syncMaxRetryMs, sent.waitMs * 2);
    return wait(now, { ...sent, waitMs }, waitMs, policy);
  }
  if (sent.tries >= policy.syncRetries) return finish(now, sent, { kind: "busy", runId }, policy);
  const next: Sent = { ...sent, tries: sent.tries + 1, refusedFor: runId, waitMs: policy.syncRetryMs };
  return wait(now, next, policy.syncRetryMs, policy);
}
