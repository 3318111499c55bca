import type { Fence, LeasePort } from "@throughline/ai-core";
import type { FinalStatus, Lease, LeasedRun, RunName, RunRecord } from "./run-record.js";
import type { LookRequest, StartLook, StartResult, StartRun } from "./start-run.js";
import type { ThreadRef } from "./thread-ref.js";

export type StopResult =
  /** It runs: its driver is told now, and again with each heartbeat. */
  | { readonly kind: "stopping"; readonly run: RunRecord }
  /** It waited: it is cancelled. */
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
  /** `ended`: it was finished before, by us or by the driver that took over. */
  | { readonly ok: false; readonly reason: "fenced" | "ended" };

export interface OpenInterrupt {
  readonly interruptId: string;
  readonly runId: string;
}

/** A row that can't be decoded. It is set aside, and what was asked goes on without it. */
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
 * Every run there is, who drives it, and who drives it next. R18: every lease and expiry is by the store's own clock. R24:
 * at most one run of a thread is `running`, by the store's own constraint. Tokens come from one counter for all threads and
 * only ever grow, so a thread that was deleted and made again never honours an old one.
 */
export interface RunRegistry extends LeasePort {
  look(request: LookRequest): Promise<StartLook>;
  /**
   * Decides by the look given, else by one of its own, and writes only if that still holds; otherwise it looks again. In a
   * closed scope it throws `beingDeleted`. A run that starts is listed as running, and its log is open.
   */
  start(request: StartRun, look?: StartLook): Promise<StartResult>;
  /** The longest waiting run of this thread, if it may run now; while an unanswered interrupt is open, only one that preempts. */
  claimNext(thread: ThreadRef, lease: Lease): Promise<LeasedRun | undefined>;
  /** For the reaper: runs of any account that could be claimed with `claimNext`, the longest waiting first. */
  claimQueued(lease: Lease, limit: number): Promise<readonly LeasedRun[]>;
  /**
   * For the reaper: runs of any account whose lease ran out or was released, with the fence bumped and the attempt counted,
   * unless it is the first.
   * A lease that ran out counts as a crash, until its driver says otherwise (`release`).
   */
  claimExpired(lease: Lease, limit: number): Promise<readonly LeasedRun[]>;
  /**
   * Renews what is still ours. Of the fences given, tells which are not, and which runs are to stop. Those are not renewed: a
   * driver that does not hear of the stop loses the run when its lease is over, and the driver that recovers it ends it.
   */
  heartbeat(fences: readonly Fence[], lease: Lease): Promise<HeartbeatResult>;
  /**
   * Gives the lease up at once, so that another instance may recover the run without waiting and without counting a crash. If
   * the run was recovered already because this driver was presumed dead, the crash is taken back. Other instances are told
   * (`onReleased`). `isFresh`: nothing was done for the run yet, so who claims it makes its first attempt.
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
  /** A run of an account, in whichever of its threads. */
  findInAccount(account: string, runId: string): Promise<RunRecord | undefined>;
  /** The open run of a thread. */
  active(thread: ThreadRef): Promise<RunRecord | undefined>;
  /** The open run of a thread, then what waits, in its order. */
  open(thread: ThreadRef): Promise<readonly RunRecord[]>;
  /** Newest first. */
  list(thread: ThreadRef, limit: number): Promise<readonly RunRecord[]>;
  openInterrupts(thread: ThreadRef): Promise<readonly OpenInterrupt[]>;
  /** Running and waiting runs of an account, whichever instance drives them. */
  countOpen(account: string): Promise<number>;
  /**
   * Deletes at most `limit` runs that ended longer ago than this, of any account, and stops that nothing came for. What a
   * person may still be asked for stays: a run with an open question. A deleted alias is free again. Gives the runs deleted.
   */
  pruneEnded(olderThanMs: number, limit: number): Promise<number>;
  /**
   * Deletes what ended, what waits and what was not heard of within its lease, asks what runs to stop and bumps the thread's
   * fence. Gives the running run's id. Asked again it gives nothing once that run has ended too.
   */
  deleteThread(thread: ThreadRef): Promise<string | undefined>;
  deleteAccount(account: string, subject?: string): Promise<readonly string[]>;
  /** Tells of stops as they are asked for, of runs of any instance, waiting ones too. A hint: heartbeats repeat it. */
  onStop(listener: (runId: string) => void): () => void;
  /** Tells that another instance has released a run, which can be claimed now. A hint: not every release is told. */
  onReleased(listener: () => void): () => void;
}

export interface HeartbeatResult {
  readonly lost: readonly string[];
  readonly stopping: readonly string[];
}
