import type { Fence, GraphRunStart, JsonObject, LeasePort, LogPosition } from "@throughline/ai-core";
import type { ThreadRef } from "../thread-ref.js";

export type StopResult =
  /** The run is running: its driver is notified now, and again with each heartbeat. */
  | { readonly kind: "stopping"; readonly run: RunRecord }
  /** The run waited: it is cancelled. */
  | { readonly kind: "cancelled"; readonly run: RunRecord }
  | { readonly kind: "ended"; readonly run: RunRecord }
  /** Not seen yet: if it arrives within the tombstone's time, it is cancelled on arrival. */
  | { readonly kind: "unknown" };

export interface Finish {
  readonly status: FinalStatus;
  /** R28: interrupts that are open now, by the checkpoint. Every other open one of the thread is closed. */
  readonly interrupts?: readonly string[];
  /** The upstream's own id of the run, where it became known. */
  readonly upstreamRunId?: string | undefined;
}

export type FinishResult =
  /** `next`: a run of this thread that waits; the caller claims it. */
  | { readonly ok: true; readonly next: string | undefined }
  /** `ended`: the run was finished before, by us or by the driver that recovered it. */
  | { readonly ok: false; readonly reason: "fenced" | "ended" };

export interface OpenInterrupt {
  readonly interruptId: string;
  readonly runId: string;
}

/** A row that can't be decoded. It is skipped, and the request goes on without it. */
export interface BadRow {
  readonly table: "runs";
  readonly id: string;
  readonly error: unknown;
}

export interface RunRegistryOptions {
  /** Called for each bad row that is met. A bad run that is claimed ends as `error`. */
  readonly onBadRow?: ((row: BadRow) => void) | undefined;
}

/**
 * The record of every run, with its present and its next driver. R18: every lease and expiry is by the store's own clock. R24:
 * at most one run of a thread is `running`, by the store's own constraint. Tokens come from one counter for all threads and
 * only ever grow, so a thread that was deleted and made again never honours an old one.
 */
export interface RunRegistry extends LeasePort {
  look(request: ReadRequest): Promise<StartLook>;
  /**
   * Decides by the look given, else by one of its own, and writes only if that still holds; otherwise it looks again. In a
   * closed scope it throws `beingDeleted`. A run that starts is listed as running, and its log is open.
   */
  start(request: StartRun, look?: StartLook): Promise<StartResult>;
  /** The longest waiting run of this thread, if it may run now; while an unanswered interrupt is open, only one that preempts. */
  claimNext(thread: ThreadRef, lease: Lease): Promise<LeasedRun | undefined>;
  /** Claims for the reaper: runs of any account that could be claimed with `claimNext`, the longest waiting first. */
  claimQueued(lease: Lease, limit: number): Promise<readonly LeasedRun[]>;
  /**
   * For the reaper: runs of any account whose lease ran out or was released, with the fence bumped and the attempt counted,
   * unless it is the first.
   * A lease that ran out counts as a crash, until its driver releases it (`release`).
   */
  claimExpired(lease: Lease, limit: number): Promise<readonly LeasedRun[]>;
  /**
   * Renews the leases that are still ours. Returns which of the fences given are not, and which runs are to stop. Those are not
   * renewed: a driver that misses the stop loses the run when its lease is over, and the driver that recovers it ends it.
   */
  heartbeat(fences: readonly Fence[], lease: Lease): Promise<HeartbeatResult>;
  /**
   * Gives the lease up at once, so that another instance may recover the run without waiting and without counting a crash. If
   * the run was recovered already because this driver was presumed dead, the crash is taken back. Other instances are
   * notified (`onReleased`). `isFresh`: nothing was done for the run yet, so its next driver makes its first attempt.
   */
  release(fence: Fence, options?: { readonly isFresh: boolean }): Promise<void>;
  setUpstreamRun(fence: Fence, upstreamRunId: string): Promise<boolean>;
  /**
   * For a run whose end is not in the log: it is deleted, or the run can't be read. Else the finish goes with the append of
   * `run_end` (`ThreadLog.append`). Exactly once: of two callers one gets `ok`.
   */
  finish(fence: Fence, end: Finish): Promise<FinishResult>;
  stop(thread: ThreadRef, name: RunName): Promise<StopResult>;
  find(thread: ThreadRef, name: RunName): Promise<RunRecord | undefined>;
  /** A run of an account, in any of its threads. */
  findInAccount(account: string, runId: string): Promise<RunRecord | undefined>;
  /** The open run of a thread. */
  active(thread: ThreadRef): Promise<RunRecord | undefined>;
  /** The open run of a thread, then what waits, in its order. */
  open(thread: ThreadRef): Promise<readonly RunRecord[]>;
  /** Newest first. */
  list(thread: ThreadRef, limit: number): Promise<readonly RunRecord[]>;
  openInterrupts(thread: ThreadRef): Promise<readonly OpenInterrupt[]>;
  /** Running and waiting runs of an account, on all instances. */
  countOpen(account: string): Promise<number>;
  /**
   * Deletes at most `limit` runs that ended longer ago than this, of any account, and stops that nothing came for. What a
   * person may still be asked for stays: a run with an open question. A deleted alias is free again. Gives the runs deleted.
   */
  pruneEnded(olderThanMs: number, limit: number): Promise<number>;
  /**
   * Deletes runs that ended, that wait or whose lease ran out, asks the running one to stop and bumps the thread's fence. Returns
   * the running run's id. Called again it returns nothing once that run has ended too.
   */
  deleteThread(thread: ThreadRef): Promise<string | undefined>;
  deleteAccount(account: string, subject?: string): Promise<readonly string[]>;
  /** Calls back for each stop that is requested, of runs of any instance, waiting ones too. A hint: heartbeats repeat it. */
  onStop(listener: (runId: string) => void): () => void;
  /** Calls back when another instance has released a run, which can be claimed now. A hint: not every release is reported. */
  onReleased(listener: () => void): () => void;
}

export interface HeartbeatResult {
  readonly lost: readonly string[];
  readonly stopping: readonly string[];
}

export const FINAL_STATUSES = ["success", "interrupted", "cancelled", "error", "lost"] as const;
export type FinalStatus = (typeof FINAL_STATUSES)[number];
export type RegistryStatus = "queued" | "running" | FinalStatus;

export interface RunOrigin {
  readonly kind: "client" | "cron" | "foreign";
  readonly id?: string | undefined;
}

export interface RunRecord {
  readonly thread: ThreadRef;
  readonly runId: string;
  /** R25: the client's own id of the run, unique within its thread. */
  readonly alias: string | undefined;
  readonly graphId: string;
  readonly origin: RunOrigin;
  readonly status: RegistryStatus;
  /** Stored until the run ends: a run that is recovered before its first checkpoint restarts from it (R27). */
  readonly start: GraphRunStart | undefined;
  /** Whatever else a driver on any instance needs in order to run it: caller, model, tools, context, profile. */
  readonly request: JsonObject;
  /** Recoveries so far, for whatever reason: numbers the attempts in the log. */
  readonly attempt: number;
  /** Recoveries of a lease that ran out without being released: the crash budget is spent by these alone. */
  readonly crashes: number;
  readonly owner: string | undefined;
  /** Token of its lease; 0 while it was never leased. */
  readonly token: bigint;
  /** While it runs: when its lease runs out, by the store's clock. Past that it is stuck, not active. */
  readonly leaseUntil: number | undefined;
  readonly upstreamRunId: string | undefined;
  readonly stopRequested: boolean;
  /** Milliseconds since the Unix epoch, by the store's clock. */
  readonly createdAt: number;
  readonly endedAt: number | undefined;
}

export type RunName = { readonly runId: string } | { readonly alias: string };

export interface Lease {
  /** Names the instance. */
  readonly owner: string;
  /** How long the run stays ours without a heartbeat, by the store's clock. */
  readonly leaseMs: number;
}

/** A run and the lease on it. The thread's log is open for the fence: its holder may append at once. */
export interface LeasedRun {
  readonly run: RunRecord;
  readonly fence: Fence;
  /** Head of the log when the lease was acquired. */
  readonly head: LogPosition;
}

/**
 * R24: what to do when the thread has an open run. `preempt` stops it and goes before everything that waits; it is the way
 * out, so it also dismisses an interrupt that has no response.
 */
export type BusyStrategy = "reject" | "enqueue" | "preempt";

/** Fields of the run's thread in a list of threads. */
export interface RunListing {
  readonly threadName: string;
  /** The title where the thread has none yet. */
  readonly derivedTitle: string | undefined;
}

export interface StartRun extends Lease {
  readonly thread: ThreadRef;
  readonly stateKey: string;
  readonly runId: string;
  readonly alias?: string | undefined;
  readonly graphId: string;
  readonly origin: RunOrigin;
  readonly start: GraphRunStart;
  readonly request: JsonObject;
  readonly upstreamRunId?: string | undefined;
  readonly strategy: BusyStrategy;
  readonly listing: RunListing;
  /** The answer to the same request was lost: a run that it has started is still the caller's to drive. */
  readonly isRetry?: boolean;
}

export interface KnownInterrupt {
  readonly interruptId: string;
  /** Unanswered while `undefined`. */
  readonly answeredBy: string | undefined;
  /** As `canonicalJson`. */
  readonly answer: string | undefined;
}

/** Runs and interrupts of a thread, which decide whether a run may start in it. */
export interface ThreadRuns {
  /** A run with the request's id or alias. */
  readonly same: string | undefined;
  /** A stop came first. */
  readonly stopped: boolean;
  readonly running: string | undefined;
  /** In the order in which they will run. */
  readonly queued: readonly string[];
  /** How many of them preempt. */
  readonly preempting: number;
  /** The open ones, and those the request answers. */
  readonly interrupts: readonly KnownInterrupt[];
}

export interface ReadRequest {
  readonly thread: ThreadRef;
  readonly runId: string;
  readonly alias?: string | undefined;
  /** Ids of the interrupts that the request answers. */
  readonly answers: readonly string[];
  /** The account whose open runs are counted. Default: the thread's. */
  readonly account?: string | undefined;
}

/** Everything a start needs to know before it writes, as of one moment. */
export interface StartLook {
  readonly runs: ThreadRuns;
  /** The run that `runs.same` names. */
  readonly same: RunRecord | undefined;
  /** Grows with every change of the thread's runs, stops and interrupts; 0 for a thread that is not there. */
  readonly revision: number;
  /** Head of the log; `undefined` when there is no such thread. */
  readonly head: LogPosition | undefined;
  /** Running and waiting runs of the account. */
  readonly openRuns: number;
  /** The thread's scope is closed: nothing may start in it. */
  readonly isClosed: boolean;
  /** The model that the thread's runs use when they name none. */
  readonly model: string | undefined;
}

export type StartResult =
  | ({ readonly kind: "started" } & LeasedRun)
  /** `ahead`: open and waiting runs before this one. `preempted`: the run that was asked to stop for it. */
  | {
      readonly kind: "queued";
      readonly run: RunRecord;
      readonly ahead: number;
      readonly preempted: string | undefined;
    }
  /** The same alias, or the same answers, as before: this is that run. */
  | { readonly kind: "attached"; readonly run: RunRecord }
  | { readonly kind: "busy"; readonly runId: string; readonly retryAfterMs: number }
  /** Stopped before it arrived: recorded as cancelled, never run. */
  | { readonly kind: "cancelled"; readonly run: RunRecord }
  /** R28: an interrupt was answered otherwise already, or is not open. */
  | { readonly kind: "conflict"; readonly interruptIds: readonly string[] }
  | { readonly kind: "interrupt_pending"; readonly interruptIds: readonly string[] };
