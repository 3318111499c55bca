import type { Answer, Command, ScheduledOutcome } from "./command.js";

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
  /** How long a run that was accepted may be missing from what we see of its thread; doubled each time we ask for it again, up to a minute. */
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

/** What is known of the thread: by a stream, a poll, or a refusal that names the run in the way. */
export type Observed =
  | { readonly kind: "idle" }
  | { readonly kind: "running"; readonly runId: string | undefined };

/** The one command that was sent and has no outcome yet. */
export interface Sent {
  readonly command: Exclude<Command, { kind: "stop" }>;
  /** `waiting`: it is sent again when the timer says so, and if it was refused as busy, when the thread is free. */
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
  /** Runs whose stop the service has not been heard to take. */
  readonly unheard: readonly (string | undefined)[];
}

/** A `sync` whose run is over, and which the state has not acknowledged yet. */
interface Unconfirmed {
  readonly id: string;
}

/** A run that waits for its turn. */
export type QueuedRun = Extract<Command, { kind: "run" }>;

export type SyncCommand = Extract<Command, { kind: "sync" }>;

/** Everything that is asked of one thread by this client, and how far it has come. */
export interface Scheduler {
  readonly observed: Observed;
  readonly sent: Sent | undefined;
  readonly preemption: Preemption | undefined;
  /** docs/requirements.md#client-8: at most one. */
  readonly sync: Extract<Command, { kind: "sync" }> | undefined;
  readonly queue: readonly QueuedRun[];
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
  /** A run that waits for its turn is given up. */
  | { readonly kind: "discard"; readonly id: string }
  | { readonly kind: "due"; readonly timer: TimerName };

export type EndStatus = Exclude<Extract<ScheduledOutcome, { kind: "done" }>["status"], "unknown">;

export type TimerName = "send" | "stop" | "confirm" | "ask" | "track";

export type SchedulerEffect =
  | { readonly kind: "send"; readonly command: Exclude<Command, { kind: "stop" }> }
  /** Stops this run, or whatever is open when it is `undefined`. */
  | { readonly kind: "stop-run"; readonly runId: string | undefined }
  | { readonly kind: "settle"; readonly id: string; readonly outcome: ScheduledOutcome }
  /** What must survive a reload; `undefined`: nothing. */
  | { readonly kind: "persist"; readonly sync: Extract<Command, { kind: "sync" }> | undefined }
  | { readonly kind: "timer"; readonly name: TimerName; readonly afterMs: number | undefined };

export type SchedulerStep = readonly [next: Scheduler, effects: readonly SchedulerEffect[]];

/** Nothing, or the newer one, is left to survive a reload. */
export function forget({ sync }: Scheduler): readonly SchedulerEffect[] {
  return [{ kind: "persist", sync }];
}

/** What is under way has to see what becomes of the thread: when it is free, how a run ends, what is acknowledged. */
export function needsLine({ sent, preemption, sync, queue, unconfirmed }: Scheduler): boolean {
  return Boolean(sent || preemption || sync || unconfirmed) || queue.length > 0;
}

export function superseded(old: Command, by: Command): SchedulerEffect {
  return settle(old.id, { kind: "superseded", by: by.id });
}

export function settle(id: string, outcome: ScheduledOutcome): SchedulerEffect {
  return { kind: "settle", id, outcome };
}

export function stopRun(runId: string | undefined): SchedulerEffect {
  return { kind: "stop-run", runId };
}

/** The two that look after what was sent. */
export const unwatched: readonly SchedulerEffect[] = [timer("send"), timer("track")];

/** Set, or cleared. */
export function timer(name: TimerName, afterMs?: number): SchedulerEffect {
  return { kind: "timer", name, afterMs };
}
