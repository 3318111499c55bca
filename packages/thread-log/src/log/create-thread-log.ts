import { setMaxListeners } from "node:events";
import {
  type Clock,
  type Envelope,
  type Fence,
  type LogPosition,
  type ProjectionCodec,
  retryStore,
  systemClock,
  ThroughlineError,
} from "@throughline/ai-core";
import { loadByParts } from "../memory/log-store.js";
import { type ThreadRef, threadTag } from "../thread-ref.js";
import { waitForStore } from "./commit.js";
import { answerRange, decodeEntry, type RangeAnswer } from "./entries.js";
import { createFanOut } from "./fan-out.js";
import { createGroupCommit } from "./group-commit.js";
import type { LogStore, StoredRange } from "./log-store.js";
import { type Compaction, compactThread, createMaintenance, type Rebuilt } from "./maintenance.js";
import { DEFAULT_SNAPSHOT_POLICY, type SnapshotPolicy } from "./snapshots.js";
import { followThread, type TailDeps, tailThread } from "./tail.js";
import { createTailBuffer, endTail } from "./tail-buffer.js";
import type {
  AppendOptions,
  AppendResult,
  CompactResult,
  Gap,
  PageOptions,
  ReadResult,
  RetentionPolicy,
  SweepResult,
  TailOptions,
  ThreadLog,
} from "./thread-log.js";

export interface ThreadLogOptions<State> {
  readonly store: LogStore;
  readonly clock?: Clock;
  /** With a fold the log makes and stores snapshots by itself (R20); without one, the owner of the fold saves them. */
  readonly fold?: ProjectionCodec<State>;
  /**
   * Rebuilds a thread whose log begins with entries that no readable snapshot covers. Called before a snapshot or a trim of such
   * a thread; the result is saved as its snapshot. `undefined` when the state can't be determined now.
   */
  readonly rebuild?: (thread: ThreadRef) => Promise<Rebuilt<State> | undefined>;
  readonly snapshots?: SnapshotPolicy;
  /** Trims as it grows. Age is left to `sweep`, because a thread without writes does not pass here. */
  readonly retention?: RetentionPolicy;
  /** Without it nothing is compacted. */
  readonly compaction?: Compaction;
  /** How long a read waits for a store that is away. Appends and tails wait however long. Default 10 s. */
  readonly patienceMs?: number;
  /** How long `close` waits for appends to be written. Default 5 s. */
  readonly drainMs?: number;
  /** How often watched threads are read although no wake-up came. Default 10 s. */
  readonly pollEveryMs?: number;
  /** Failures of snapshots and trims in the background. */
  readonly onError?: (error: unknown) => void;
}

const DEFAULT_READ_LIMIT = 500;
const DEFAULT_MAX_BUFFERED = 256;
/** Entries that a thread is loaded with at first; the rest follows in pages. */
const LOAD_LIMIT = 1_000;
/** Entries behind the newest snapshot within which the past is loaded for a returning reader; else it is rebuilt for it alone. */
const SHORTLY_BEFORE = 256;
const RETAINED_IN_GAP = 100;
const DEFAULT_PATIENCE_MS = 10_000;
const DEFAULT_DRAIN_MS = 5_000;
const DEFAULT_POLL_MS = 10_000;

/** Everything that is the same for all stores: group commit, tail, snapshots, retention. One per instance and store. */
export function createThreadLog<State>(options: ThreadLogOptions<State>): ThreadLog {
  const { store } = options;
  const clock = options.clock ?? systemClock;
  const { patienceMs = DEFAULT_PATIENCE_MS, drainMs = DEFAULT_DRAIN_MS } = options;
  /** Aborted when the log is closed: ends every wait for the store. */
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  const { signal } = ended;
  /** Retries a read, which gets a response in time or fails. */
  const patiently = <T>(attempt: () => Promise<T>) => waitForStore({ clock, signal, patienceMs }, attempt);
  /** Retries work that takes long by itself: patience counts between attempts. */
  const retrying = <T>(attempt: () => Promise<T>) => retryStore({ clock, signal, patienceMs }, attempt);
  let closing = false;

  const fanOut = createFanOut({
    clock,
    pollEveryMs: options.pollEveryMs ?? DEFAULT_POLL_MS,
    read: (reads) =>
      waitForStore({ clock, signal }, () =>
        store.read(
          reads.map(({ feed, position }) => ({
            thread: feed.thread,
            epoch: position.epoch,
            afterSeq: position.seq,
          })),
          DEFAULT_READ_LIMIT,
        ),
      ),
  });
  const unsubscribe = store.subscribe((wake) => fanOut.wake(wake));
  const commits = createGroupCommit({
    store,
    clock,
    signal,
    onCommitted(thread, entries, { unfolded, held }) {
      fanOut.publish(thread, entries);
      maintenance.appended(thread, entries.length, unfolded, held);
    },
    onUncertain: (thread) => fanOut.wake({ kind: "threads", tags: [threadTag(thread)] }),
  });
  const maintenance = createMaintenance({
    store,
    log: { read, snapshot },
    clock,
    fold: options.fold,
    rebuild: options.rebuild,
    snapshots: options.snapshots ?? DEFAULT_SNAPSHOT_POLICY,
    retention: options.retention,
    signal,
    onError: options.onError ?? (() => {}),
  });

  async function sweep(policy: RetentionPolicy, page: PageOptions = {}): Promise<SweepResult> {
    const { maxAgeMs } = policy;
    if (maxAgeMs === undefined) return { dropped: 0, next: undefined };
    const { threads, next } = await patiently(() => store.aging(maxAgeMs, page));
    let dropped = 0;
    // One after the other: a round over everything must not slow down readers and writers.
    for (const thread of threads) {
      if (closing) break;
      dropped += (await retrying(() => maintenance.trim(thread, policy))).dropped;
    }
    return { dropped, next: closing ? undefined : next };
  }

  async function compact(page: PageOptions = {}): Promise<CompactResult> {
    const { compaction } = options;
    const own = store.compaction;
    if (compaction === undefined || own === undefined) return { dropped: 0, next: undefined };
    const { threads, next } = await patiently(() => own.compactable(compaction.afterMs, page));
    let dropped = 0;
    for (const thread of threads) {
      if (closing) break;
      dropped += await retrying(() => compactThread(own, compaction, thread, signal));
    }
    return { dropped, next: closing ? undefined : next };
  }

  async function readRange(
    wait: StoreWait,
    thread: ThreadRef,
    after: { epoch: string | undefined; seq: number },
    limit: number,
  ): Promise<StoredRange | undefined> {
    const request = { thread, epoch: after.epoch, afterSeq: after.seq };
    const [range] = await wait(() => store.read([request], limit));
    return range;
  }

  async function completeGap(
    wait: StoreWait,
    thread: ThreadRef,
    answer: Extract<RangeAnswer, { kind: "gap" }>,
    afterSeq: number,
  ): Promise<Gap> {
    const { head, reason } = answer;
    if (reason !== "trimmed" || head === undefined) return { ...answer, kept: [] };
    const kept = await wait(() => store.kept(thread, afterSeq, RETAINED_IN_GAP));
    return { ...answer, kept: kept.map((entry) => decodeEntry(head.epoch, entry)) };
  }

  async function read(
    thread: ThreadRef,
    after: LogPosition | undefined,
    limit = DEFAULT_READ_LIMIT,
  ): Promise<ReadResult> {
    const from = after ?? { epoch: undefined, seq: 0 };
    const answer = answerRange(await readRange(patiently, thread, from, Math.max(1, limit)), after);
    return answer.kind === "gap" ? completeGap(patiently, thread, answer, from.seq) : answer;
  }

  function snapshot(...asked: Parameters<ThreadLog["snapshot"]>): ReturnType<ThreadLog["snapshot"]> {
    return patiently(() => store.snapshot(...asked));
  }

  async function head(thread: ThreadRef): Promise<LogPosition | undefined> {
    const range = await readRange(patiently, thread, { epoch: "", seq: 0 }, 1);
    return range && { epoch: range.epoch, seq: range.head };
  }

  async function append(
    thread: ThreadRef,
    envelopes: readonly Envelope[],
    fence: Fence,
    options?: AppendOptions,
  ): Promise<AppendResult> {
    if (closing) throw new ThroughlineError("shutting_down", "This instance takes no more entries.");
    if (envelopes.length === 0) {
      throw new ThroughlineError("invalid_input", "envelopes: an append needs at least one", {
        details: { field: "envelopes" },
      });
    }
    assertOwnFence(thread, fence);
    const finish = options?.finish && { ...options.finish, runId: fence.runId };
    return commits.append(thread, fence.token, envelopes, options?.signal, finish);
  }

  const until =
    (left: AbortSignal): StoreWait =>
    (attempt) =>
      waitForStore({ clock, signal: left }, attempt);
  const tailDeps: TailDeps = {
    fanOut,
    read: (thread, position, left) => readRange(until(left), thread, position, DEFAULT_READ_LIMIT),
    completeGap: (thread, answer, position, left) => completeGap(until(left), thread, answer, position.seq),
    load: (thread, { foldVersions, returnsTo }, left) => {
      const request = { foldVersions, returnsTo, shortlyBefore: SHORTLY_BEFORE, limit: LOAD_LIMIT };
      return until(left)(() =>
        store.load ? store.load(thread, request) : loadByParts(store, thread, request),
      );
    },
    isClosing: () => closing,
  };

  const log: ThreadLog = {
    async open(thread, fence, about = {}) {
      assertOwnFence(thread, fence);
      return patiently(() => store.open(thread, fence.token, about.stateKey));
    },
    append,
    read,
    tail(thread, after, { signal: left, maxBuffered = DEFAULT_MAX_BUFFERED }: TailOptions = {}) {
      return tailThread(tailDeps, thread, createTailBuffer(after, maxBuffered), left);
    },
    follow(thread, { signal: left, ...options }) {
      return followThread(tailDeps, thread, createTailBuffer(undefined, DEFAULT_MAX_BUFFERED), options, left);
    },
    head,
    snapshot,
    saveSnapshot: (thread, snapshot) => patiently(() => store.saveSnapshot(thread, snapshot)),
    trim: (thread, policy) => retrying(() => maintenance.trim(thread, policy)),
    sweep,
    compact,
    async terminal(thread, runId) {
      const found = await patiently(() => store.terminal(thread, runId));
      return found && decodeEntry(found.epoch, found.entry);
    },
    // Deleting twice deletes once; only what it counts may then be too little.
    deleteThread: (thread) => retrying(() => store.deleteThread(thread)),
    deleteAccount: (account, subject) => retrying(() => store.deleteAccount(account, subject)),
    threads: (scope, page = {}) => patiently(() => store.threads(scope, page)),
    async close() {
      closing = true;
      fanOut.close();
      for (const buffer of fanOut.buffers()) endTail(buffer, "closing");
      const patienceEnds = clock.schedule(drainMs, () => ended.abort());
      const maintenanceEnd = maintenance.close();
      await commits.drained();
      await maintenanceEnd;
      patienceEnds.cancel();
      ended.abort();
      unsubscribe();
    },
  };
  return log;
}

type StoreWait = <T>(attempt: () => Promise<T>) => Promise<T>;

/** A fence of another thread would compare tokens that have nothing to do with one another. */
function assertOwnFence(thread: ThreadRef, fence: Fence): void {
  if (fence.threadId === thread.threadId) return;
  throw new ThroughlineError("invalid_input", "fence: is of another thread", { details: { field: "fence" } });
}
