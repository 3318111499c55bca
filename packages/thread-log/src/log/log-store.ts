import type { Finish } from "../registry/run-registry.js";
import type { ThreadRef, ThreadScope } from "../thread-ref.js";
import type {
  OpenResult,
  PageOptions,
  Refused,
  RetentionPolicy,
  Snapshot,
  ThreadPage,
  TrimResult,
} from "./thread-log.js";

export interface StoredEntry {
  readonly seq: number;
  /** The envelope as JSON, encoded once, by `createThreadLog`. */
  readonly text: string;
}

export interface NewEntry {
  readonly text: string;
  /** Length of `text` in UTF-8. */
  readonly bytes: number;
  /** The run of a `run_end`, by which `terminal` finds the entry. Such an entry outlives trimming. */
  readonly endOfRun: string | undefined;
}

/** Entries of one thread, to be committed as a whole. */
export interface StoreAppend {
  readonly thread: ThreadRef;
  readonly token: bigint;
  /**
   * A writer's random name of 13 characters and a count of fixed width. A commit whose answer was lost is tried again with the
   * same id: a store that finds it as the thread's last one answers as it would have the first time, even if another driver
   * holds the lease by now, and writes nothing. One that is lower than the same writer's last is refused as `fenced`: an
   * abandoned attempt has arrived late.
   */
  readonly appendId: string;
  readonly entries: readonly NewEntry[];
  /** Ends the run in the same commit. An append whose run is not held under its token is refused as `fenced`. */
  readonly finish?: StoreFinish | undefined;
}

export interface StoreFinish extends Finish {
  readonly runId: string;
}

export type StoreAppendResult =
  | {
      readonly ok: true;
      readonly epoch: string;
      readonly first: number;
      readonly last: number;
      /** Entries and bytes that no snapshot covers yet, this append included: decides when the next one is due (R20). */
      readonly unfolded: { readonly entries: number; readonly bytes: number };
      /** Entries and bytes that the thread holds, this append included: decides when to trim. */
      readonly held: { readonly entries: number; readonly bytes: number };
      /** After a finish: the run of this thread that waits. */
      readonly next?: string | undefined;
    }
  | Refused
  /** Another session holds the thread. Nothing was written: the append is to be tried again later, alone. */
  | { readonly ok: false; readonly reason: "locked" };

export interface RangeRequest {
  readonly thread: ThreadRef;
  /** Entries of any other epoch are of no use: then none are sent. */
  readonly epoch: string | undefined;
  /** 0 is the beginning. */
  readonly afterSeq: number;
}

export interface StoredRange {
  readonly epoch: string;
  /** 0 while nothing was ever appended in this epoch. */
  readonly head: number;
  /** First seq from which on nothing was trimmed; 1 at first. */
  readonly floor: number;
  /** Up to this seq entries may have been merged, so that seqs jump; 0 or absent where none were. */
  readonly compacted?: number;
  /**
   * Set where `afterSeq` was merged into a later entry: the last position before it that was not. What follows `afterSeq` can't
   * be determined then; what follows this position can.
   */
  readonly resumeAt?: number;
  /**
   * Set where the log was restored from a backup of the epoch asked for: up to this seq it holds what that epoch held, at the same
   * positions.
   */
  readonly continuedAt?: number;
  /** A tombstone: deleted and not opened again since. */
  readonly deleted: boolean;
  /** From `max(afterSeq + 1, floor)` on, at most `limit`; empty when the epoch is not the one asked for. */
  readonly entries: readonly StoredEntry[];
}

export interface LoadRequest {
  /** Versions of snapshots that the reader can begin from. */
  readonly foldVersions: readonly number[];
  /**
   * The seq that a reader returns to: if it lies at most `shortlyBefore` behind the newest snapshot, the load begins from an
   * earlier one, so that the log is read once for both.
   */
  readonly returnsTo: number | undefined;
  readonly shortlyBefore: number;
  readonly limit: number;
}

/** A thread from the snapshot that its reader begins with: the entries are those after it, or after the floor. */
export interface StoredThread extends StoredRange {
  readonly snapshot: Snapshot | undefined;
}

export interface AgingPage {
  readonly threads: readonly ThreadRef[];
  /** Pass it as `after` for the next page; `undefined` on the last. */
  readonly next: string | undefined;
}

/** The entries of a thread that may be compacted next. */
export interface UncompactedRange {
  readonly epoch: string;
  readonly floor: number;
  /** Up to where the log is compacted: the entries are those right after it, or after the floor. */
  readonly compacted: number;
  readonly entries: readonly StoredEntry[];
  /** The `run_end` up to which it may go on, beyond these entries perhaps. */
  readonly end: number;
  /** Positions of snapshots among them, of any fold version: nothing may be merged across one. */
  readonly snapshots: readonly number[];
}

/** Replacement of an `UncompactedRange`; applied only if epoch, floor and `compacted` are still what they were. */
export interface StoreCompaction extends Pick<UncompactedRange, "epoch" | "floor" | "compacted"> {
  /** The last seq of the range: up to it the log is compacted then. */
  readonly through: number;
  /** New texts of entries that replace those dropped before them. */
  readonly merged: readonly { readonly seq: number; readonly text: string; readonly bytes: number }[];
  readonly dropped: readonly number[];
}

/** The part of a store that can compact. */
export interface CompactionStore {
  /** Threads of any account that hold, after what is compacted, a `run_end` older than this; in an order of the store's own. */
  compactable(olderThanMs: number, page: PageOptions): Promise<AgingPage>;
  /** Up to the last `run_end` that is older than this, at most `limit` entries; `undefined` when there is none. */
  uncompacted(thread: ThreadRef, olderThanMs: number, limit: number): Promise<UncompactedRange | undefined>;
  /** As one; a writer of the thread waits at most for this. `false`: nothing was done, because the thread has changed. */
  compact(thread: ThreadRef, compaction: StoreCompaction): Promise<boolean>;
  /** Drops what nothing uses any more, once whole runs were compacted: those between the two positions. */
  tidy?(thread: ThreadRef, after: number, through: number): Promise<void>;
}

/** A hint that threads changed; may be late, doubled, or name too many (tags are short hashes). Never the truth. */
export type WakeHint =
  | { readonly kind: "threads"; readonly tags: readonly string[] }
  | { readonly kind: "all" };

/** Entries that another instance has committed to one thread, by an `EntryBus`. May be late, doubled, or missing altogether. */
export interface EntriesWake {
  readonly kind: "entries";
  /** The thread, as `threadDigest` identifies it. */
  readonly digest: string;
  readonly epoch: string;
  /** Seq of the first entry. */
  readonly first: number;
  /** 0 where the entries were too large to send, and have to be read. */
  readonly count: number;
  /** The envelopes as JSON, encoded again by each call. */
  texts(): readonly string[];
}

export type Wake = WakeHint | EntriesWake;

/**
 * The port of a log's storage; everything else (group commit, tail, retention, cursors) is written once, above it. A
 * store object is one instance's view: several on the same database wake one another. A call that fails because the
 * database is away fails with an error that `isStoreOutage` knows, and must be safe to repeat.
 */
export interface LogStore {
  /** How many commits it accepts at once. One more at a time is sent for appends that could not be written with others before. */
  readonly committers: number;
  open(thread: ThreadRef, token: bigint, stateKey: string | undefined): Promise<OpenResult>;
  /**
   * Commits each append as a whole, durably, and wakes the other instances once. At most one append per thread in a batch, and
   * a thread in one batch at a time. Per thread: the token is compared, `seq` assigned, the entries written and the run
   * finished as one. A thread that another session holds is answered `locked` and does not hold up the others.
   */
  commit(batch: readonly StoreAppend[]): Promise<readonly StoreAppendResult[]>;
  /** One answer per request, in order; `undefined` where there is no such thread. One round trip, whatever their number. */
  read(requests: readonly RangeRequest[], limit: number): Promise<readonly (StoredRange | undefined)[]>;
  /** Snapshot and entries in one call, for stores where that is one round trip; others are asked for the parts. */
  load?(thread: ThreadRef, request: LoadRequest): Promise<StoredThread | undefined>;
  /** Entries of a trimmed past that were retained: those with `afterSeq < seq < floor`, the last `limit` of them, in order. */
  kept(thread: ThreadRef, afterSeq: number, limit: number): Promise<readonly StoredEntry[]>;
  terminal(
    thread: ThreadRef,
    runId: string,
  ): Promise<{ readonly epoch: string; readonly entry: StoredEntry } | undefined>;
  snapshot(
    thread: ThreadRef,
    foldVersions: readonly number[],
    notAfter?: number,
  ): Promise<Snapshot | undefined>;
  /** Stores the snapshot, and drops the one that `expendableSnapshot` names then. */
  saveSnapshot(thread: ThreadRef, snapshot: Snapshot): Promise<boolean>;
  /** The last seq that exceeds a bound of the policy, 0 when nothing does; with the epoch it was computed in. */
  excess(
    thread: ThreadRef,
    policy: RetentionPolicy,
  ): Promise<{ readonly epoch: string; readonly through: number } | undefined>;
  /**
   * Raises the floor to what follows `through`, and drops entries below it but terminals, and of those all but the last
   * `maxTerminals`; also those that an interrupted trim left. Entries that were merged go as a whole or stay. No-op in another
   * epoch.
   */
  trim(thread: ThreadRef, epoch: string, through: number, maxTerminals: number): Promise<TrimResult>;
  /** Threads of any account that may hold entries older than this, and so are worth reading, in an order of the store's own. */
  aging(maxAgeMs: number, page: PageOptions): Promise<AgingPage>;
  /** Absent in a store that does not compact. */
  readonly compaction?: CompactionStore;
  deleteThread(thread: ThreadRef): Promise<boolean>;
  deleteAccount(account: string, subject: string | undefined): Promise<number>;
  threads(scope: ThreadScope, page: PageOptions): Promise<ThreadPage>;
  /** Calls back after other instances' commits and after every deletion, this one's included; `all` after a lost connection. */
  subscribe(listener: (wake: Wake) => void): () => void;
}

/** Entries of one thread, as one commit has written them. */
export interface CommittedEntries {
  readonly thread: ThreadRef;
  readonly epoch: string;
  /** Seq of the first of them. */
  readonly first: number;
  readonly entries: readonly NewEntry[];
}

export type BusState =
  | { readonly kind: "connected" }
  /** `reason` is for a log: it may be any error. */
  | { readonly kind: "away"; readonly reason: unknown };

/**
 * Carries committed entries to the other instances, so that their subscribers need not read them from the database. It holds
 * nothing: what it loses, or carries twice, the log makes good.
 */
export interface EntryBus {
  /** Never throws and never waits. Where entries can't be sent, the database notifies of their threads instead. */
  publish(commits: readonly CommittedEntries[]): void;
  /**
   * Calls back with what other instances have committed. While nothing can be received `all` comes every second, and once more
   * when the bus is back.
   */
  subscribe(listener: (wake: Wake) => void): () => void;
}
