import type { Command } from "./command.js";
import { dispatch, resend } from "./dispatch.js";
import { heard, preempt, runsInTheWay, stopToo, stopWaiting } from "./preempt.js";
import {
  type CommandPolicy,
  DEFAULT_COMMAND_POLICY,
  forget,
  type Observed,
  type Scheduler,
  type SchedulerEffect,
  type SchedulerInput,
  type SchedulerStep,
  type SyncCommand,
  settle,
  superseded,
  type TimerName,
  timer,
  unwatched,
} from "./scheduler-state.js";
import { confirmed, ended, track } from "./settle-run.js";
import { newerSync } from "./sync-order.js";
import { answered } from "./take-answer.js";

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
