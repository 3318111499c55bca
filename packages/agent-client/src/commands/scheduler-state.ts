import type { Command, CommandAck, ScheduledOutcome } from "./command.js";

export interface CommandPolicy {
  /** How many runs in a row may start before a `sync`, and how long it waits before it is resent. */
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
  /** How often a command is resent that may not have arrived, and the wait before. */
  readonly sendRetries: number;
  readonly sendRetryMs: number;
  /** How long commands wait on the last observation of a thread before they are sent anyway. */
  readonly askMs: number;
  /** How long an accepted run may be missing from the thread's view before it is resent; doubled each time, up to a minute. */
  readonly trackMs: number;
}

/** Values of docs/requirements.md#client-8: three retries of a `sync`, half a second apart. */
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

/** The observed status of the thread: from a stream, a poll, or a refusal that names the run in the way. */
export type Observed =
  | { readonly kind: "idle" }
  | { readonly kind: "running"; readonly runId: string | undefined };

/** The one command that was sent and has no outcome yet. */
export interface InFlightCommand {
  readonly command: Exclude<Command, { kind: "stop" }>;
  /** `waiting`: it is resent when the timer fires, and if it was refused as busy, when the thread is free. */
  readonly phase: "sending" | "waiting" | "running";
  readonly tries: number;
  readonly resends: number;
  /** The run that was in the way when it was last refused. */
  readonly refusedFor?: string | undefined;
  readonly waitMs: number;
}

export interface Preemption {
  /** A `stop`, or a `fire` that is sent once the thread is free. */
  readonly command: Extract<Command, { kind: "stop" | "fire" }>;
  /** Runs whose stop the service has not acknowledged. */
  readonly unheard: readonly (string | undefined)[];
}

/** A `sync` whose run is over, and which the state has not acknowledged yet. */
interface Unconfirmed {
  readonly id: string;
}

/** A run in the queue. */
export type QueuedRun = Extract<Command, { kind: "run" }>;

export type SyncCommand = Extract<Command, { kind: "sync" }>;

/** All commands of this client on one thread that have no outcome yet, with their phases. */
export interface SchedulerState {
  readonly observed: Observed;
  readonly sent: InFlightCommand | undefined;
  readonly preemption: Preemption | undefined;
  /** docs/requirements.md#client-8: at most one. */
  readonly sync: Extract<Command, { kind: "sync" }> | undefined;
  readonly queue: readonly QueuedRun[];
  readonly unconfirmed: Unconfirmed | undefined;
  readonly lastConfirmed: string | undefined;
}

export const idleScheduler: SchedulerState = {
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
  | { readonly kind: "answered"; readonly id: string; readonly ack: CommandAck }
  /** The run of a command reached its end. */
  | {
      readonly kind: "ended";
      readonly id: string;
      readonly status: EndStatus;
    }
  /** The ack of a `stop-run`; `false`: it never arrived, however often it was sent. */
  | { readonly kind: "stop-answered"; readonly runId: string | undefined; readonly ok: boolean }
  /** `lastAppliedClientMutationId` of the thread's state. */
  | { readonly kind: "confirmed"; readonly id: string }
  /** Discards a queued run. */
  | { readonly kind: "discard"; readonly id: string }
  | { readonly kind: "due"; readonly timer: TimerName };

export type EndStatus = Exclude<Extract<ScheduledOutcome, { kind: "done" }>["status"], "unknown">;

export type TimerName = "send" | "stop" | "confirm" | "ask" | "track";

export type SchedulerEffect =
  | { readonly kind: "send"; readonly command: Exclude<Command, { kind: "stop" }> }
  /** Stops this run, or the open run when it is `undefined`. */
  | { readonly kind: "stop-run"; readonly runId: string | undefined }
  | { readonly kind: "settle"; readonly id: string; readonly outcome: ScheduledOutcome }
  /** Stores the `sync` that must survive a reload; `undefined`: removes it. */
  | { readonly kind: "persist"; readonly sync: Extract<Command, { kind: "sync" }> | undefined }
  | { readonly kind: "timer"; readonly name: TimerName; readonly afterMs: number | undefined };

export type SchedulerStep = readonly [next: SchedulerState, effects: readonly SchedulerEffect[]];

/** Stores the newer `sync`, or removes the stored one. */
export function forget({ sync }: SchedulerState): readonly SchedulerEffect[] {
  return [{ kind: "persist", sync }];
}

/** Whether the thread's stream is needed: commands under way depend on run ends and acknowledgements. */
export function needsStream({ sent, preemption, sync, queue, unconfirmed }: SchedulerState): boolean {
  return Boolean(sent || preemption || sync || unconfirmed) || queue.length > 0;
}

export function superseded(old: Command, by: Command): SchedulerEffect {
  return complete(old.id, { kind: "superseded", by: by.id });
}

export function complete(id: string, outcome: ScheduledOutcome): SchedulerEffect {
  return { kind: "settle", id, outcome };
}

export function stopRun(runId: string | undefined): SchedulerEffect {
  return { kind: "stop-run", runId };
}

/** Clears the two timers of the in-flight command. */
export const unwatched: readonly SchedulerEffect[] = [timer("send"), timer("track")];

/** Sets a timer; without `afterMs`, clears it. */
export function timer(name: TimerName, afterMs?: number): SchedulerEffect {
  return { kind: "timer", name, afterMs };
}
