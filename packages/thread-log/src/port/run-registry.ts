import type { Fence, GraphRunStart, JsonObject, LeasePort } from "@throughline/ai-core";
import type { ThreadRef } from "./thread-ref.js";

export const FINAL_STATUSES = ["success", "interrupted", "cancelled", "error", "lost"] as const;
export type FinalStatus = (typeof FINAL_STATUSES)[number];
export type RegistryStatus = "queued" | "running" | FinalStatus;

/**
 * R24: what to do when the thread has an open run. `preempt` stops it and goes before everything that waits; it is the way
 * out, so it also sets aside a question that nobody has answered.
 */
export type BusyStrategy = "reject" | "enqueue" | "preempt";

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
  /** Kept until a checkpoint exists, because a run without one is begun anew (R27). */
  readonly start: GraphRunStart | undefined;
  /** Whatever else a driver on any instance needs in order to run it: caller, model, tools, context, profile. */
  readonly request: JsonObject;
  readonly attempt: number;
  readonly owner: string | undefined;
  /** While it runs: until when its owner need not be heard of, by the store's clock. Past that it is stuck, not active. */
  readonly leaseUntil: number | undefined;
  readonly upstreamRunId: string | undefined;
  readonly stopRequested: boolean;
  /** Milliseconds since the Unix epoch, by the store's clock. */
  readonly createdAt: number;
  readonly endedAt: number | undefined;
}

/** A run and the lease on it. */
export interface LeasedRun {
  readonly run: RunRecord;
  readonly fence: Fence;
}

export interface Lease {
  /** Names the instance. */
  readonly owner: string;
  /** How long the run stays ours without a heartbeat, by the store's clock. */
  readonly leaseMs: number;
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

export type RunName = { readonly runId: string } | { readonly alias: string };

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
}

export type FinishResult =
  /** `next`: a run of this thread that waits; whoever finishes claims it. */
  | { readonly ok: true; readonly next: string | undefined }
  /** `ended`: it was finished before, by us or by whoever took over. */
  | { readonly ok: false; readonly reason: "fenced" | "ended" };

export interface OpenInterrupt {
  readonly interruptId: string;
  readonly runId: string;
}

/**
 * Every run there is, who drives it, and who drives it next. R18: every lease and expiry is by the store's own clock. R24:
 * at most one run of a thread is `running`, by the store's own constraint. Tokens come from one counter for all threads and
 * only ever grow, so a thread that was deleted and made again never honours an old one.
 */
export interface RunRegistry extends LeasePort {
  start(request: StartRun): Promise<StartResult>;
  /** The longest waiting run of this thread, if it may run now; while an unanswered interrupt is open, only one that preempts. */
  claimNext(thread: ThreadRef, lease: Lease): Promise<LeasedRun | undefined>;
  /** For the reaper: waiting runs whose thread is free, of any account. */
  claimQueued(lease: Lease, limit: number): Promise<readonly LeasedRun[]>;
  /** For the reaper: runs whose lease ran out, of any account, with the fence bumped and the attempt counted. */
  claimExpired(lease: Lease, limit: number): Promise<readonly LeasedRun[]>;
  /**
   * Renews what is still ours. Of the fences given, tells which are not, and which runs are to stop. Those are not renewed: a
   * driver that does not hear of the stop loses the run when its lease is over, and whoever takes it over ends it.
   */
  heartbeat(fences: readonly Fence[], lease: Lease): Promise<HeartbeatResult>;
  /** Gives the lease up at once, so that another instance may take the run over without waiting. */
  release(fence: Fence): Promise<void>;
  /** A checkpoint exists: the input is no longer needed. `false` when fenced. */
  checkpointed(fence: Fence): Promise<boolean>;
  setUpstreamRun(fence: Fence, upstreamRunId: string): Promise<boolean>;
  /** Exactly once: of two callers one gets `ok`. */
  finish(fence: Fence, end: Finish): Promise<FinishResult>;
  stop(thread: ThreadRef, name: RunName): Promise<StopResult>;
  find(thread: ThreadRef, name: RunName): Promise<RunRecord | undefined>;
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
   * Forgets at most `limit` runs that ended longer ago than this, of any account, and stops that nothing came for. What a
   * person may still be asked for stays: a run with an open question. A forgotten alias is free again. Gives the runs forgotten.
   */
  pruneEnded(olderThanMs: number, limit: number): Promise<number>;
  /**
   * Forgets what ended, what waits and what was not heard of within its lease, asks what runs to stop and bumps the thread's
   * fence. Gives the running run's id. Asked again it gives nothing once that run has ended too.
   */
  deleteThread(thread: ThreadRef): Promise<string | undefined>;
  deleteAccount(account: string, subject?: string): Promise<readonly string[]>;
  /** Tells of stops as they are asked for, of runs of any instance, waiting ones too. A hint: heartbeats repeat it. */
  onStop(listener: (runId: string) => void): () => void;
}

export interface HeartbeatResult {
  readonly lost: readonly string[];
  readonly stopping: readonly string[];
}

export interface LeaseListener {
  /** Somebody else may drive the run by now: abort the graph, write nothing more. */
  lost(): void;
  stop(): void;
}

/** Renews leases until told otherwise. The PostgreSQL one runs in a worker thread, so a CPU-bound node does not look dead (R17). */
export interface LeaseKeeper {
  /** Each listener is called at most once of a kind. Returns what ends the keeping, without giving up the lease. */
  keep(fence: Fence, listener: LeaseListener): () => void;
  close(): Promise<void>;
}
