import type { Answer, Command, CommandOutcome } from "./command.js";

export interface CommandPolicy {
  /** How many runs in a row may get in before a `sync`, and how long it waits before it asks again. */
  readonly syncRetries: number;
  readonly syncRetryMs: number;
  /** While the same run is in the way the wait doubles, up to this. */
  readonly syncMaxRetryMs: number;
  /** How long an acknowledgement may follow the end of its run. */
  readonly confirmMs: number;
  /** How long a stopped run may take to end. */
  readonly stopMs: number;
  readonly fireRetries: number;
  readonly fireRetryMs: number;
  /** How often anything is sent again that may not have arrived, and how long it waits before. */
  readonly sendRetries: number;
  readonly sendRetryMs: number;
  /** What we last saw of a thread is no reason to wait longer than this without asking. */
  readonly askMs: number;
  /** How long a run that was accepted may be missing from what we see of its thread; doubled each time we ask for it again. */
  readonly trackMs: number;
}

/** Seed values of the invariants: three retries of a `sync`, half a second apart. */
export const DEFAULT_COMMAND_POLICY: CommandPolicy = {
  syncRetries: 3,
  syncRetryMs: 500,
  syncMaxRetryMs: 8_000,
  confirmMs: 5_000,
  stopMs: 5_000,
  fireRetries: 10,
  fireRetryMs: 300,
  sendRetries: 3,
  sendRetryMs: 1_000,
  askMs: 8_000,
  trackMs: 5_000,
};

/** What is known of the thread: by a stream, a poll, or a refusal that names the run in the way. */
export type Observed =
  | { readonly kind: "idle" }
  | { readonly kind: "running"; readonly runId: string | undefined };

/** The one command that was sent and has no outcome yet. */
interface Sent {
  readonly command: Exclude<Command, { kind: "stop" }>;
  /** `waiting`: it is sent again when the timer says so, and if it was refused as busy, when the thread is free. */
  readonly phase: "sending" | "waiting" | "running";
  readonly tries: number;
  readonly resends: number;
  /** The run that was in the way when it was last refused. */
  readonly refusedFor?: string | undefined;
  readonly waitMs: number;
}

interface Preemption {
  /** A `stop`, or a `fire` that is sent once the thread is free. */
  readonly command: Extract<Command, { kind: "stop" | "fire" }>;
  /** Runs whose stop the service has not been heard to take. */
  readonly unheard: readonly (string | undefined)[];
}

/** A `sync` whose run is over, and which the state has not acknowledged yet. */
interface Unconfirmed {
  readonly id: string;
}

type SyncCommand = Extract<Command, { kind: "sync" }>;

/** Everything that is asked of one thread by this client, and how far it has come. */
export interface Scheduler {
  readonly observed: Observed;
  readonly sent: Sent | undefined;
  readonly preemption: Preemption | undefined;
  /** Invariant 8: at most one. */
  readonly sync: Extract<Command, { kind: "sync" }> | undefined;
  readonly queue: readonly Extract<Command, { kind: "run" }>[];
  readonly unconfirmed: Unconfirmed | undefined;
  readonly lastConfirmed: string | undefined;
}

export const idleScheduler: Scheduler = {
  observed: { kind: "idle" },
  sent: undefined,
  preemption: undefined,
  sync: undefined,
  queue: [],
  unconfirmed: undefined,
  lastConfirmed: undefined,
};

export type SchedulerInput =
  | { readonly kind: "submit"; readonly command: Command }
  | { readonly kind: "observed"; readonly observed: Observed }
  | { readonly kind: "answered"; readonly id: string; readonly answer: Answer }
  /** The run of a command reached its end. */
  | {
      readonly kind: "ended";
      readonly id: string;
      readonly status: EndStatus;
    }
  /** What came of a `stop-run`; `false`: it never arrived, however often it was sent. */
  | { readonly kind: "stop-answered"; readonly runId: string | undefined; readonly ok: boolean }
  /** `lastAppliedClientMutationId` of the thread's state. */
  | { readonly kind: "confirmed"; readonly id: string }
  | { readonly kind: "due"; readonly timer: TimerName };

export type EndStatus = Exclude<Extract<CommandOutcome, { kind: "done" }>["status"], "unknown">;

export type TimerName = "send" | "stop" | "confirm" | "ask" | "track";

export type SchedulerEffect =
  | { readonly kind: "send"; readonly command: Exclude<Command, { kind: "stop" }> }
  /** Stops this run, or whatever is open when it is `undefined`. */
  | { readonly kind: "stop-run"; readonly runId: string | undefined }
  /** Somebody has to tell when the thread is free: open a stream, or poll. */
  | { readonly kind: "observe" }
  | { readonly kind: "settle"; readonly id: string; readonly outcome: CommandOutcome }
  /** What must survive a reload; `undefined`: nothing. */
  | { readonly kind: "persist"; readonly sync: Extract<Command, { kind: "sync" }> | undefined }
  | { readonly kind: "timer"; readonly name: TimerName; readonly afterMs: number | undefined };

export type SchedulerStep = readonly [next: Scheduler, effects: readonly SchedulerEffect[]];

/**
 * Lanes of one thread. `fire` and `stop` go before everything; a `sync` waits for the thread to be free and only the latest
 * counts; other runs follow their own policy. The service's lock is the truth: nothing here assumes that what it does not
 * see does not run (invariants 6 and 7).
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
  const { sent, sync } = now;
  // Kept over a reload or by the tab that led before, it may be here already.
  if (sync?.id === command.id || sent?.command.id === command.id) return [now, []];
  if (now.lastConfirmed === command.id)
    return [now, [...forget(now), settle(command.id, { kind: "confirmed" })]];
  const replaced = sync ? [superseded(sync, command)] : [];
  const persisted: SchedulerEffect = { kind: "persist", sync: command };
  const next: Scheduler = { ...now, sync: command };
  // Refused, it surely did not arrive: the newer one takes its place instead of following it.
  if (sent?.command.kind === "sync" && sent.phase === "waiting" && sent.resends === 0) {
    const effects = [superseded(sent.command, command), timer("send", undefined), persisted];
    return dispatch({ ...next, sent: undefined }, effects, policy);
  }
  return dispatch(next, [...replaced, persisted, ...observing(now)], policy);
}

function preempt(
  now: Scheduler,
  command: Extract<Command, { kind: "stop" | "fire" }>,
  policy: CommandPolicy,
): SchedulerStep {
  const replaced = now.preemption ? [superseded(now.preemption.command, command)] : [];
  const inTheWay = runsInTheWay(now);
  // Nothing is seen to run, which does not say that nothing does (invariant 6).
  const named = inTheWay.length > 0 || command.kind === "fire" ? inTheWay : [undefined];
  // What was only waiting to be sent again must not be sent behind our back.
  const [freed, dropped] = dropWaiting({ ...now, preemption: { command, unheard: named } });
  const effects = [...replaced, ...dropped, ...named.map(stopRun)];
  if (command.kind === "fire" && !isTaken(freed)) return dispatch(freed, effects, policy);
  return dispatch(freed, [...effects, { kind: "observe" }, timer("stop", policy.stopMs)], policy);
}

function heard(
  now: Scheduler,
  preemption: Preemption,
  runId: string | undefined,
  policy: CommandPolicy,
): SchedulerStep {
  const unheard = preemption.unheard.filter((id) => id !== runId);
  return dispatch({ ...now, preemption: { ...preemption, unheard } }, [], policy);
}

/** A run that turns out to be in the way of a stop or a fire is stopped as well. */
function stopToo(
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
function runsInTheWay({ sent, observed }: Scheduler): readonly (string | undefined)[] {
  const mayRun = sent && (sent.phase !== "waiting" || sent.resends > 0);
  const ours = mayRun ? [sent.command.id] : [];
  if (observed.kind === "idle" || ours.some((id) => id === observed.runId)) return ours;
  return [...ours, observed.runId];
}

function dropWaiting(now: Scheduler): readonly [Scheduler, readonly SchedulerEffect[]] {
  const { sent, observed } = now;
  if (sent?.phase !== "waiting") return [now, []];
  const cleared: Scheduler = { ...now, sent: undefined };
  const effects = [timer("send", undefined)];
  if (sent.command.kind === "sync") {
    if (now.sync) return [cleared, [...effects, superseded(sent.command, now.sync)]];
    return [{ ...cleared, sync: sent.command }, effects];
  }
  const inTheWay = observed.kind === "running" ? observed.runId : undefined;
  const outcome: CommandOutcome =
    sent.resends > 0 ? { kind: "unreachable" } : { kind: "busy", runId: inTheWay };
  return [cleared, [...effects, settle(sent.command.id, outcome)]];
}

function isTaken({ sent, observed }: Scheduler): boolean {
  return observed.kind === "running" || (sent !== undefined && sent.phase !== "waiting");
}

/** A thread that is free is asked again at once by whoever was refused for its last run. */
function observe(before: Scheduler, observed: Observed, policy: CommandPolicy): SchedulerStep {
  const now: Scheduler = { ...before, observed };
  const { sent, preemption } = now;
  const runId = observed.kind === "running" ? observed.runId : undefined;
  if (sent && runId === sent.command.id) {
    // It arrived, whatever became of the answer.
    const running: Scheduler = { ...now, sent: { ...sent, phase: "running" } };
    return dispatch(running, [timer("send", undefined), timer("track", undefined)], policy);
  }
  const tracked = sent?.phase === "running" ? [timer("track", policy.trackMs)] : [];
  if (preemption) {
    const isNew = observed.kind === "running" && !runsInTheWay(before).includes(runId);
    if (!isNew) return dispatch(now, tracked, policy);
    const [next, stop] = stopToo(now, preemption, runId);
    return dispatch(next, [...tracked, stop], policy);
  }
  const goes = observed.kind === "idle" && sent?.phase === "waiting" && sent.tries > 0;
  return goes ? resend(now, sent, [timer("send", undefined)]) : dispatch(now, tracked, policy);
}

function resend(now: Scheduler, sent: Sent, effects: readonly SchedulerEffect[]): SchedulerStep {
  const next: Scheduler = { ...now, sent: { ...sent, phase: "sending" } };
  return [next, [...effects, { kind: "send", command: sent.command }]];
}

/** Whatever may go now, goes: at most one at a time. */
function dispatch(now: Scheduler, effects: readonly SchedulerEffect[], policy: CommandPolicy): SchedulerStep {
  if (now.preemption) {
    const { command, unheard } = now.preemption;
    if (isTaken(now) || (command.kind === "stop" && unheard.length > 0)) return [now, effects];
    return release(now, now.preemption, effects, policy);
  }
  if (now.sent) return [now, effects];
  // A thread that somebody else's run holds is worth asking for a run, never for a sync, which would only come back.
  const [first, ...rest] = now.queue;
  const goes = first && (now.observed.kind === "idle" || first.busy.kind !== "queue");
  if (goes) return send({ ...now, queue: rest }, first, effects);
  if (now.sync && now.observed.kind === "idle") return send({ ...now, sync: undefined }, now.sync, effects);
  // A refusal may name a run whose end we saw before it: nobody would tell us of that end again.
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
  const told = [...effects, timer("stop", undefined)];
  if (command.kind === "fire") return send(free, command, told);
  return dispatch(free, [...told, settle(command.id, { kind: "stopped" })], policy);
}

function send(now: Scheduler, command: Sent["command"], effects: readonly SchedulerEffect[]): SchedulerStep {
  const sent: Sent = { command, phase: "sending", tries: 0, resends: 0, waitMs: 0 };
  return [{ ...now, sent }, [...effects, { kind: "send", command }]];
}

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
  const tracked = timer("track", policy.trackMs * 2 ** sent.resends);
  return dispatch(next, [{ kind: "observe" }, tracked], policy);
}

function isSeen({ observed }: Scheduler, { command }: Sent): boolean {
  return observed.kind === "running" && observed.runId === command.id;
}

/** Invariant 7: an outcome, not an error. Somebody else's run is watched to its end; then, or after a while, we ask again. */
function busy(
  now: Scheduler,
  sent: Sent,
  { runId, retryAfterMs }: Extract<Answer, { kind: "busy" }>,
  policy: CommandPolicy,
): SchedulerStep {
  const { command } = sent;
  const next = { ...sent, tries: sent.tries + 1 };
  const known: Scheduler = { ...now, observed: { kind: "running", runId } };
  const refused: CommandOutcome = { kind: "busy", runId };
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
        return dispatch(waiting, [{ kind: "observe" }], policy);
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

/** A stop or a fire came while this was on its way. */
function giveWay(
  now: Scheduler,
  sent: Sent,
  outcome: CommandOutcome,
  policy: CommandPolicy,
  effects: readonly SchedulerEffect[] = [],
): SchedulerStep {
  const free: Scheduler = { ...now, sent: undefined };
  if (sent.command.kind !== "sync")
    return dispatch(free, [...effects, settle(sent.command.id, outcome)], policy);
  if (now.sync) return dispatch(free, [...effects, superseded(sent.command, now.sync)], policy);
  return dispatch({ ...free, sync: sent.command }, effects, policy);
}

function wait(
  now: Scheduler,
  sent: Sent,
  afterMs: number,
  policy: CommandPolicy,
  effects: readonly SchedulerEffect[] = [],
): SchedulerStep {
  const next: Scheduler = { ...now, sent: { ...sent, phase: "waiting" } };
  return dispatch(next, [...effects, { kind: "observe" }, timer("send", afterMs)], policy);
}

function ended(now: Scheduler, id: string, status: EndStatus, policy: CommandPolicy): SchedulerStep {
  const isIdle = now.observed.kind === "running" && now.observed.runId === id;
  const next: Scheduler = isIdle ? { ...now, observed: { kind: "idle" } } : now;
  return now.sent?.command.id === id ? over(next, now.sent, status, policy) : dispatch(next, [], policy);
}

/** Its run is over. */
function over(
  now: Scheduler,
  sent: Sent,
  status: Extract<CommandOutcome, { kind: "done" }>["status"],
  policy: CommandPolicy,
): SchedulerStep {
  const timers = [timer("send", undefined), timer("track", undefined)];
  if (sent.command.kind !== "sync") return finish(now, sent, { kind: "done", status }, policy, timers);
  if (now.lastConfirmed === sent.command.id) return finish(now, sent, { kind: "confirmed" }, policy, timers);
  const [next, effects] = awaitConfirmation(now, sent.command.id, policy);
  return dispatch(next, [...timers, ...effects], policy);
}

/** The acknowledgement may come by another stream, a moment behind the end. */
function awaitConfirmation(now: Scheduler, id: string, policy: CommandPolicy): SchedulerStep {
  const before = now.unconfirmed ? [settle(now.unconfirmed.id, { kind: "unconfirmed" })] : [];
  return [
    { ...now, sent: undefined, unconfirmed: { id } },
    [...before, ...forget(now), timer("confirm", policy.confirmMs)],
  ];
}

function confirmed(now: Scheduler, id: string, policy: CommandPolicy): SchedulerStep {
  const next: Scheduler = { ...now, lastConfirmed: id };
  const told = settle(id, { kind: "confirmed" });
  if (now.unconfirmed?.id === id)
    return [{ ...next, unconfirmed: undefined }, [timer("confirm", undefined), told]];
  // Sent before a reload, and applied: sending it again would apply it twice.
  if (now.sync?.id === id) {
    const free: Scheduler = { ...next, sync: undefined };
    return dispatch(free, [...forget(free), told], policy);
  }
  // Its run may go on; the thread is seen to be taken for as long as it does.
  if (now.sent?.command.id === id && now.sent.command.kind === "sync") {
    const timers = [timer("send", undefined), timer("track", undefined)];
    return finish(next, now.sent, { kind: "confirmed" }, policy, timers);
  }
  return [next, []];
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

/** It was given its time. */
function stopWaiting(now: Scheduler, { command, unheard }: Preemption, policy: CommandPolicy): SchedulerStep {
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
  const outcome: CommandOutcome =
    sent.phase === "running" ? { kind: "done", status: "cancelled" } : { kind: "unreachable" };
  return [{ ...now, sent: undefined }, [settle(sent.command.id, outcome)]];
}

/** Accepted, and not what we see running. Asked for again it is the same run, and whoever answers may know its end. */
function track(now: Scheduler, policy: CommandPolicy): SchedulerStep {
  const { sent } = now;
  if (sent?.phase !== "running" || isSeen(now, sent)) return [now, []];
  if (sent.resends >= policy.sendRetries) return over(now, sent, "unknown", policy);
  return resend(now, { ...sent, resends: sent.resends + 1 }, []);
}

function finish(
  now: Scheduler,
  sent: Sent,
  outcome: CommandOutcome,
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

/** Nothing, or the newer one, is left to survive a reload. */
function forget({ sync }: Scheduler): readonly SchedulerEffect[] {
  return [{ kind: "persist", sync }];
}

function observing({ observed }: Scheduler): readonly SchedulerEffect[] {
  return observed.kind === "running" ? [{ kind: "observe" }] : [];
}

function superseded(old: Command, by: Command): SchedulerEffect {
  return settle(old.id, { kind: "superseded", by: by.id });
}

function settle(id: string, outcome: CommandOutcome): SchedulerEffect {
  return { kind: "settle", id, outcome };
}

function stopRun(runId: string | undefined): SchedulerEffect {
  return { kind: "stop-run", runId };
}

function timer(name: TimerName, afterMs: number | undefined): SchedulerEffect {
  return { kind: "timer", name, afterMs };
}
