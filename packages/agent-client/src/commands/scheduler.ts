import type { Command, CommandAck, ScheduledOutcome } from "./command.js";
import { confirmed, dispatch, ended, finish, isSeen, resend, track, wait } from "./dispatch.js";
import { newerSync } from "./mutation-ids.js";
import {
  alsoStop,
  preempt,
  preemptionTimeout,
  runsInTheWay,
  stopAcknowledged,
  yieldToPreemption,
} from "./preemption.js";
import {
  type CommandPolicy,
  complete,
  DEFAULT_COMMAND_POLICY,
  forget,
  type InFlightCommand,
  type Observed,
  type SchedulerEffect,
  type SchedulerInput,
  type SchedulerState,
  type SchedulerStep,
  type SyncCommand,
  stopRun,
  superseded,
  type TimerName,
  timer,
  unwatched,
} from "./scheduler-state.js";

/**
 * The state machine of one thread's commands. `fire` and `stop` go before everything; a `sync` waits for the thread to be free and
 * only the latest counts; other runs follow their own policy. The service's lock decides: a run that is not observed may still be
 * active (docs/requirements.md#client-6 and 7).
 */
export function transitionScheduler(
  now: SchedulerState,
  input: SchedulerInput,
  policy: CommandPolicy = DEFAULT_COMMAND_POLICY,
): SchedulerStep {
  switch (input.kind) {
    case "submit":
      return submit(now, input.command, policy);
    case "observed":
      return observe(now, input.observed, policy);
    case "answered":
      return now.sent?.command.id === input.id ? acked(now, now.sent, input.ack, policy) : [now, []];
    case "ended":
      return ended(now, input.id, input.status, policy);
    case "stop-answered":
      return input.ok && now.preemption
        ? stopAcknowledged(now, now.preemption, input.runId, policy)
        : [now, []];
    case "confirmed":
      return confirmed(now, input.id, policy);
    case "discard":
      return discard(now, input.id);
    case "due":
      return due(now, input.timer, policy);
  }
}

function submit(now: SchedulerState, command: Command, policy: CommandPolicy): SchedulerStep {
  switch (command.kind) {
    case "sync":
      return submitSync(now, command, policy);
    case "run":
      // Local gating is advisory: before a request, only this client's own commands count as busy.
      if (command.busy.kind === "reject" && (now.sent || now.preemption || now.queue.length > 0)) {
        return [now, [complete(command.id, { kind: "busy", runId: now.sent?.command.id })]];
      }
      return dispatch({ ...now, queue: [...now.queue, command] }, [], policy);
    case "fire":
    case "stop":
      return preempt(now, command, policy);
  }
}

function submitSync(now: SchedulerState, command: SyncCommand, policy: CommandPolicy): SchedulerStep {
  const { sent, sync, unconfirmed } = now;
  // Restored after a reload, or handed over by the previous leader tab, it may be here already.
  if ([sync?.id, sent?.command.id, unconfirmed?.id].includes(command.id)) return [now, []];
  if (now.lastConfirmed === command.id)
    return [now, [...forget(now), complete(command.id, { kind: "confirmed" })]];
  // Resubmitted after a newer one, by a tab that lost its leader or from storage.
  const newer = newerSync(now, command.id);
  if (newer !== undefined)
    return [now, [...forget(now), complete(command.id, { kind: "superseded", by: newer })]];
  const replaced = sync ? [superseded(sync, command)] : [];
  const persisted: SchedulerEffect = { kind: "persist", sync: command };
  const next: SchedulerState = { ...now, sync: command };
  // Refused, it surely did not arrive: the newer one replaces it instead of following it.
  if (sent?.command.kind === "sync" && sent.phase === "waiting" && sent.resends === 0) {
    const effects = [superseded(sent.command, command), timer("send"), persisted];
    return dispatch({ ...next, sent: undefined }, effects, policy);
  }
  return dispatch(next, [...replaced, persisted], policy);
}

/** Discards a queued run. A command in flight can only be stopped. */
function discard(now: SchedulerState, id: string): SchedulerStep {
  const queue = now.queue.filter((queued) => queued.id !== id);
  if (queue.length === now.queue.length) return [now, []];
  const waits = queue.length > 0 || now.sync !== undefined;
  return [{ ...now, queue }, [complete(id, { kind: "discarded" }), ...(waits ? [] : [timer("ask")])]];
}

/** Applies an observed status. Once the thread is free, a command that was refused because of its last run is resent at once. */
function observe(before: SchedulerState, observed: Observed, policy: CommandPolicy): SchedulerStep {
  const now: SchedulerState = { ...before, observed };
  const { sent, preemption } = now;
  const runId = observed.kind === "running" ? observed.runId : undefined;
  if (sent && runId === sent.command.id) {
    // It arrived, even if its ack was lost.
    const running: SchedulerState = { ...now, sent: { ...sent, phase: "running" } };
    return dispatch(running, unwatched, policy);
  }
  const tracked = sent?.phase === "running" ? [timer("track", policy.trackMs)] : [];
  if (preemption) {
    const isNew = observed.kind === "running" && !runsInTheWay(before).includes(runId);
    if (!isNew) return dispatch(now, tracked, policy);
    const [next, stop] = alsoStop(now, preemption, runId);
    return dispatch(next, [...tracked, stop], policy);
  }
  const goes = observed.kind === "idle" && sent?.phase === "waiting" && sent.tries > 0;
  return goes ? resend(now, sent, [timer("send")]) : dispatch(now, tracked, policy);
}

function due(now: SchedulerState, name: TimerName, policy: CommandPolicy): SchedulerStep {
  switch (name) {
    case "send": {
      const { sent } = now;
      return sent?.phase === "waiting" ? resend(now, sent, []) : [now, []];
    }
    case "stop":
      return now.preemption ? preemptionTimeout(now, now.preemption, policy) : [now, []];
    case "confirm":
      if (!now.unconfirmed) return [now, []];
      return [{ ...now, unconfirmed: undefined }, [complete(now.unconfirmed.id, { kind: "unconfirmed" })]];
    case "ask":
      return now.sent || now.preemption
        ? [now, []]
        : dispatch({ ...now, observed: { kind: "idle" } }, [], policy);
    case "track":
      return track(now, policy);
  }
}

/**
 * Caps the doubling wait of the `track` timer. With an unlimited number of retries it would otherwise grow to days and, past the
 * maximum of a timer, to no wait at all: the client would call the service in a loop.
 */
const LONGEST_TRACK_MS = 60_000;

function acked(
  now: SchedulerState,
  sent: InFlightCommand,
  ack: CommandAck,
  policy: CommandPolicy,
): SchedulerStep {
  switch (ack.kind) {
    case "accepted":
      return sent.phase === "sending" ? accepted(now, sent, policy) : [now, []];
    case "busy":
      return busy(now, sent, ack, policy);
    case "refused":
      return finish(now, sent, { kind: "refused", code: ack.code, message: ack.message }, policy);
    case "unreachable":
      if (now.preemption) return yieldToPreemption(now, sent, { kind: "unreachable" }, policy);
      if (sent.resends >= policy.sendRetries) return finish(now, sent, { kind: "unreachable" }, policy);
      return wait(now, { ...sent, resends: sent.resends + 1 }, policy.sendRetryMs, policy);
  }
}

/** Waits for the thread to show the run: it may be over already, or have been stopped before it began. */
function accepted(now: SchedulerState, sent: InFlightCommand, policy: CommandPolicy): SchedulerStep {
  const next: SchedulerState = { ...now, sent: { ...sent, phase: "running" } };
  if (isSeen(now, sent)) return dispatch(next, [], policy);
  const afterMs = Math.min(policy.trackMs * 2 ** sent.resends, Math.max(policy.trackMs, LONGEST_TRACK_MS));
  const tracked = timer("track", afterMs);
  return dispatch(next, [tracked], policy);
}

/** Applies a busy ack: an outcome, not an error (docs/requirements.md#client-7). Resends after the other run, or after a wait. */
function busy(
  now: SchedulerState,
  sent: InFlightCommand,
  { runId, retryAfterMs }: Extract<CommandAck, { kind: "busy" }>,
  policy: CommandPolicy,
): SchedulerStep {
  const { command } = sent;
  const next = { ...sent, tries: sent.tries + 1 };
  const known: SchedulerState = { ...now, observed: { kind: "running", runId } };
  const refused: ScheduledOutcome = { kind: "busy", runId };
  if (now.preemption) {
    const [stopping, stop] = alsoStop(known, now.preemption, runId);
    return yieldToPreemption(stopping, sent, refused, policy, [stop]);
  }
  switch (command.kind) {
    case "fire":
      if (sent.tries >= policy.fireRetries) return finish(known, sent, refused, policy);
      return wait(known, next, Math.max(policy.fireRetryMs, retryAfterMs ?? 0), policy, [stopRun(runId)]);
    case "sync":
      if (now.sync) return finish(known, sent, { kind: "superseded", by: now.sync.id }, policy);
      return retrySync(known, sent, runId, policy);
    case "run":
      if (command.busy.kind === "queue") {
        const waiting: SchedulerState = { ...known, sent: undefined, queue: [command, ...now.queue] };
        return dispatch(waiting, [], policy);
      }
      if (command.busy.kind === "reject" || sent.tries >= command.busy.times)
        return finish(known, sent, refused, policy);
      return wait(known, next, Math.max(command.busy.delayMs, retryAfterMs ?? 0), policy);
  }
}

/** Resends a refused `sync`. Waiting for the same run costs no try: only runs that started before the `sync` meanwhile do. */
function retrySync(
  now: SchedulerState,
  sent: InFlightCommand,
  runId: string | undefined,
  policy: CommandPolicy,
): SchedulerStep {
  const isSame = runId !== undefined && runId === sent.refusedFor;
  if (isSame) {
    const waitMs = Math.min(policy.syncMaxRetryMs, sent.waitMs * 2);
    return wait(now, { ...sent, waitMs }, waitMs, policy);
  }
  if (sent.tries >= policy.syncRetries) return finish(now, sent, { kind: "busy", runId }, policy);
  const next: InFlightCommand = {
    ...sent,
    tries: sent.tries + 1,
    refusedFor: runId,
    waitMs: policy.syncRetryMs,
  };
  return wait(now, next, policy.syncRetryMs, policy);
}
