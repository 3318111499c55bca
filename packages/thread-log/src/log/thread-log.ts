import type { Envelope, Fence, Json, LogEntry, LogPosition } from "@throughline/ai-core";
import type { Finish } from "../registry/run-registry.js";
import type { ThreadRef, ThreadScope } from "../thread-ref.js";

/** `fenced`: a newer lease writes this thread. `deleted`: the thread is gone, or was never opened. Neither is worth a retry. */
export type RefusalReason = "fenced" | "deleted";

export interface Refused {
  readonly ok: false;
  readonly reason: RefusalReason;
}

export type OpenResult = { readonly ok: true; readonly head: LogPosition } | Refused;

export type AppendResult =
  | {
      readonly ok: true;
      readonly epoch: string;
      readonly first: number;
      readonly last: number;
      /** After a finish: the run of this thread that waits; the caller claims it. */
      readonly next?: string | undefined;
    }
  | Refused;

/**
 * `trimmed`: what follows the cursor is no longer stored. `compacted`: it was merged with what came before. `epoch`: the cursor
 * is of a log that was lost or deleted.
 * `ahead`: the log has never been that far. `unreadable`: not a cursor we minted.
 */
export type GapReason = "trimmed" | "compacted" | "epoch" | "ahead" | "unreadable";

/** R3: a cursor the log cannot serve. The reader loads a fresh snapshot and goes on from there. */
export interface Gap {
  readonly kind: "gap";
  readonly reason: GapReason;
  /** `undefined` when there is no such thread. */
  readonly head: LogPosition | undefined;
  /** After `trimmed`: terminal entries behind the cursor that outlived the rest, oldest first, at most the last hundred. */
  readonly kept: readonly LogEntry[];
  /**
   * After `compacted`: the last position before the cursor that can be read on from. After `epoch`: the cursor's own position,
   * where the log was restored from a backup that had come that far.
   */
  readonly resumeAt?: LogPosition;
}

export interface Batch {
  readonly kind: "entries";
  /** In order, without a hole, starting right after the position asked for. Where the log is compacted, seqs jump. */
  readonly entries: readonly LogEntry[];
  /** Head of the log at that moment; `undefined` when there is no such thread. */
  readonly head: LogPosition | undefined;
}

/** The thread was deleted after the cursor was minted. */
export interface Deleted {
  readonly kind: "deleted";
}

export type ReadResult = Batch | Gap | Deleted;

/** An event of a tail: non-empty batches until one `gap` or `deleted`, which ends it. */
export type TailEvent = Batch | Gap | Deleted;

/** Current state of a thread: the snapshot to begin from, if there is one, and the entries after it, perhaps not all of them. */
export interface Loaded {
  readonly kind: "loaded";
  readonly snapshot: Snapshot | undefined;
  readonly entries: readonly LogEntry[];
  /** `undefined` when there is no such thread. */
  readonly head: LogPosition | undefined;
}

export interface FollowOptions {
  /** Versions of snapshots that the reader can begin from. */
  readonly foldVersions: readonly number[];
  /** The seq that a reader returns to. It then gets the entries since among the first ones, if they are few. */
  readonly returnsTo?: number | undefined;
  readonly signal?: AbortSignal;
}

export interface TailOptions {
  readonly signal?: AbortSignal;
  /** Entries buffered for this subscriber while it is busy; past that it falls back to reading the log. Default 256. */
  readonly maxBuffered?: number;
}

export interface AppendOptions {
  /**
   * Abandons the append: if it is still waiting for its turn it is dropped, and rejects with the signal's reason. One that was
   * sent already goes on to its end.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Ends the fence's run in the commit that makes its `run_end` readable. If the run is not held any more, nothing is appended
   * and the answer is `fenced`.
   */
  readonly finish?: Finish | undefined;
}

/** R20: the state of a fold at `position`. */
export interface Snapshot {
  readonly position: LogPosition;
  readonly foldVersion: number;
  readonly state: Json;
}

/** Bounds of one thread's log. What exceeds any of them is trimmed, oldest first; terminal entries have a bound of their own. */
export interface RetentionPolicy {
  readonly maxEntries?: number;
  readonly maxBytes?: number;
  readonly maxAgeMs?: number;
  /** Terminal entries (`run_end`) retained below the floor. Default 1,000. */
  readonly maxTerminals?: number;
}

export interface TrimResult {
  /** Entries dropped. */
  readonly dropped: number;
  /** First seq that can still be read. */
  readonly floor: number;
}

export interface SweepResult {
  readonly dropped: number;
  /** Pass it as `after` for the next page; `undefined` on the last. */
  readonly next: string | undefined;
}

export interface CompactResult {
  /** Entries that went into others. */
  readonly dropped: number;
  /** Pass it as `after` for the next page; `undefined` on the last. */
  readonly next: string | undefined;
}

export interface ThreadSummary {
  readonly thread: ThreadRef;
  /** `{graphName}/{threadName}`, as given when the thread was opened; empty if never given. */
  readonly stateKey: string;
  readonly head: LogPosition;
  /** Milliseconds since the Unix epoch, by the store's clock. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface ThreadPage {
  readonly threads: readonly ThreadSummary[];
  /** Pass it as `after` for the next page; `undefined` on the last. */
  readonly next: string | undefined;
}

export interface PageOptions {
  readonly after?: string | undefined;
  /** Default 100, at most 1,000. */
  readonly limit?: number;
}

/**
 * The append-only log of every thread. An entry is durable before any subscriber is notified of it (R2); order is order of
 * `seq`, which starts at 1 and has no holes until the log is compacted; a position is never used twice within an epoch. Calls
 * that are not documented to wait longer fail with a `StoreOutage` when the store stays away.
 */
export interface ThreadLog {
  /**
   * Announces a writer: creates the thread if need be, and from its return on refuses every lower token. For writers that have
   * no lease of the registry's, which opens the log itself; this is also what brings a deleted thread back to life, in its
   * new epoch.
   */
  open(thread: ThreadRef, fence: Fence, about?: { readonly stateKey?: string }): Promise<OpenResult>;
  /**
   * All or nothing, in order. Resolves when durable: a store that is away is waited for, however long, until the log closes;
   * then it fails with a `StoreOutage`. An empty batch is refused with `invalid_input`. A refusal or an error means that the
   * writer is out, not that its last batch is not in the log.
   */
  append(
    thread: ThreadRef,
    envelopes: readonly Envelope[],
    fence: Fence,
    options?: AppendOptions,
  ): Promise<AppendResult>;
  /** `after: undefined` is the beginning. A log that was trimmed has no beginning: that too is a gap. Default limit 500. */
  read(thread: ThreadRef, after: LogPosition | undefined, limit?: number): Promise<ReadResult>;
  /**
   * Everything after the position, then what comes. A thread that does not exist yet is waited for, and so is a store that is
   * away. Ends by `signal`, by leaving the loop, after a `gap` or `deleted`, or with a `shutting_down` error when the log closes.
   */
  tail(thread: ThreadRef, after: LogPosition | undefined, options?: TailOptions): AsyncIterable<TailEvent>;
  /**
   * Yields the thread as a fold loads it, then what comes, as `tail` does: first one `loaded`, or a `gap` where only a checkpoint
   * has the thread's state (R20). On PostgreSQL this is one statement, and none while nothing happens.
   */
  follow(thread: ThreadRef, options: FollowOptions): AsyncIterable<Loaded | TailEvent>;
  head(thread: ThreadRef): Promise<LogPosition | undefined>;
  /**
   * The newest snapshot of any of these fold versions that the log can still be read on from; with `notAfter`, the newest at or
   * before that seq. Of two at one seq, that of the higher version. Older ones are fewer the further back they lie, and go when the log is trimmed past them.
   */
  snapshot(
    thread: ThreadRef,
    foldVersions: readonly number[],
    notAfter?: number,
  ): Promise<Snapshot | undefined>;
  /** `false` when there is a newer one, or the position is not of this log. */
  saveSnapshot(thread: ThreadRef, snapshot: Snapshot): Promise<boolean>;
  /** Never passes the newest snapshot: with a fold one is made first, without one the caller's own must be there. */
  trim(thread: ThreadRef, policy: RetentionPolicy): Promise<TrimResult>;
  /**
   * Trims a page of the threads, of any account, that time alone has brought over the policy's age; without an age there are
   * none. For a slow round over everything: safe to repeat, and on several instances at once.
   */
  sweep(policy: RetentionPolicy, page?: PageOptions): Promise<SweepResult>;
  /**
   * Compacts a page of the threads, of any account, whose runs ended long enough ago; none without `compaction`. For a slow
   * round over everything, as `sweep`.
   */
  compact(page?: PageOptions): Promise<CompactResult>;
  /** The `run_end` of a run, for as long as the thread retains it: it outlives the entries around it. */
  terminal(thread: ThreadRef, runId: string): Promise<LogEntry | undefined>;
  /** Leaves a tombstone with a new epoch and fence, so a late writer is refused. `false` when there was nothing. */
  deleteThread(thread: ThreadRef): Promise<boolean>;
  /** The threads deleted. */
  deleteAccount(account: string, subject?: string): Promise<number>;
  threads(scope: ThreadScope, page?: PageOptions): Promise<ThreadPage>;
  /** Ends every tail and lets appends finish, for a bounded time. The store stays open: its maker closes it. */
  close(): Promise<void>;
}
