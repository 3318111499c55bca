import type { Answer, Command, ScheduledOutcome } from "./command.js";
import { confirmed, dispatch, ended, finish, isSeen, resend, track, wait } from "./dispatch.js";
import { newerSync } from "./mutation-ids.js";
import { giveWay, heard, preempt, runsInTheWay, stopToo, stopWaiting } from "./preemption.js";
import {
  type CommandPolicy,
  DEFAULT_COMMAND_POLICY,
  forget,
  type Observed,
  type Scheduler,
  type SchedulerEffect,
  type SchedulerInput,
  type SchedulerStep,
  type Sent,
  type SyncCommand,
  settle,
  stopRun,
  superseded,
  type TimerName,
  timer,
  unwatched,
} from "./scheduler-state.js";

/**
 * Lanes of one thread. `fire` and `stop` go before everything; a `sync` waits for the thread to be free and only the latest
 * counts; other runs follow their own policy. The service's lock is the truth: nothing here assumes that what it does not
 * see does not run (docs/requirements.md#client-6 and 7).
 */
export function schedule(
  now: Scheduler,
  input: SchedulerInput,
  policy: CommandPolicy = DEFAULT_COMMAND_POLICY,
): SchedulerStep {
  switch (input.kind) {
    case "submit":
      return submit(now, input.command, policy);
    case "observed":
      return observe(now, input.observed, policy);
    case "answered":
      return now.sent?.command.id === input.id ? answered(now, now.sent, input.answer, policy) : [now, []];
    case "ended":
      return ended(now, input.id, input.status, policy);
    case "stop-answered":
      return input.ok && now.preemption ? heard(now, now.preemption, input.runId, policy) : [now, []];
    case "confirmed":
      return confirmed(now, input.id, policy);
    case "discard":
      return discard(now, input.id);
    case "due":
      return due(now, input.timer, policy);
  }
}

function submit(now: Scheduler, command: Command, policy: CommandPolicy): SchedulerStep {
  switch (command.kind) {
    case "sync":
      return submitSync(now, command, policy);
    case "run":
      // Local gating is advisory: only what this client itself has under way counts as busy before the service was asked.
      if (command.busy.kind === "reject" && (now.sent || now.preemption || now.queue.length > 0)) {
        return [now, [settle(command.id, { kind: "busy", runId: now.sent?.command.id })]];
      }
      return dispatch({ ...now, queue: [...now.queue, command] }, [], policy);
    case "fire":
    case "stop":
      return preempt(now, command, policy);
  }
}

function submitSync(now: Scheduler, command: SyncCommand, policy: CommandPolicy): SchedulerStep {
  const { sent, sync, unconfirmed } = now;
  // Kept over a reload or by the tab that led before, it may be here already.
  if ([sync?.id, sent?.command.id, unconfirmed?.id].includes(command.id)) return [now, []];
  if (now.lastConfirmed === command.id)
    return [now, [...forget(now), settle(command.id, { kind: "confirmed" })]];
  // Asked for again behind a newer one, by a tab that lost its leader or from storage.
  const newer = newerSync(now, command.id);
  if (newer !== undefined)
    return [now, [...forget(now), settle(command.id, { kind: "superseded", by: newer })]];
  const replaced = sync ? [superseded(sync, command)] : [];
  const persisted: SchedulerEffect = { kind: "persist", sync: command };
  const next: Scheduler = { ...now, sync: command };
  // Refused, it surely did not arrive: the newer one takes its place instead of following it.
  if (sent?.command.kind === "sync" && sent.phase === "waiting" && sent.resends === 0) {
    const effects = [superseded(sent.command, command), timer("send"), persisted];
    return dispatch({ ...next, sent: undefined }, effects, policy);
  }
  return dispatch(next, [...replaced, persisted], policy);
}

/** Only what waits for its turn: what was sent can be stopped alone. */
function discard(now: Scheduler, id: string): SchedulerStep {
  const queue = now.queue.filter((queued) => queued.id !== id);
  if (queue.length === now.queue.length) return [now, []];
  const waits = queue.length > 0 || now.sync !== undefined;
  return [{ ...now, queue }, [settle(id, { kind: "discarded" }), ...(waits ? [] : [timer("ask")])]];
}

/** Once a thread is free, a command that was refused for its last run asks again at once. */
function observe(before: Scheduler, observed: Observed, policy: CommandPolicy): SchedulerStep {
  const now: Scheduler = { ...before, observed };
  const { sent, preemption } = now;
  const runId = observed.kind === "running" ? observed.runId : undefined;
  if (sent && runId === sent.command.id) {
    // It arrived, whatever became of the answer.
    const running: Scheduler = { ...now, sent: { ...sent, phase: "running" } };
    return dispatch(running, unwatched, policy);
  }
  const tracked = sent?.phase === "running" ? [timer("track", policy.trackMs)] : [];
  if (preemption) {
    const isNew = observed.kind === "running" && !runsInTheWay(before).includes(runId);
    if (!isNew) return dispatch(now, tracked, policy);
    const [next, stop] = stopToo(now, preemption, runId);
    return dispatch(next, [...tracked, stop], policy);
  }
  const goes = observed.kind === "idle" && sent?.phase === "waiting" && sent.tries > 0;
  return goes ? resend(now, sent, [timer("send")]) : dispatch(now, tracked, policy);
}

function due(now: Scheduler, name: TimerName, policy: CommandPolicy): SchedulerStep {
  switch (name) {
    case "send": {
      const { sent } = now;
      return sent?.phase === "waiting" ? resend(now, sent, []) : [now, []];
    }
    case "stop":
      return now.preemption ? stopWaiting(now, now.preemption, policy) : [now, []];
    case "confirm":
      if (!now.unconfirmed) return [now, []];
      return [{ ...now, unconfirmed: undefined }, [settle(now.unconfirmed.id, { kind: "unconfirmed" })]];
    case "ask":
      return now.sent || now.preemption
        ? [now, []]
        : dispatch({ ...now, observed: { kind: "idle" } }, [], policy);
    case "track":
      return track(now, policy);
  }
}

/**
 * A client that is told to send again for as long as it takes would else wait for days, or, past what a timer can count to, not at
 * all: it would ask the service in a loop.
 */
const LONGEST_TRACK_MS = 60_000;

function answered(now: Scheduler, sent: Sent, answer: Answer, policy: CommandPolicy): SchedulerStep {
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
