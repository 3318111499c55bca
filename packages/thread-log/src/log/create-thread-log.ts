import {
  type Clock,
  type Fence,
  type FoldPort,
  type LogPosition,
  systemClock,
  ThroughlineError,
} from "@throughline/ai-core";
import type { LogStore, StoredRange } from "../port/log-store.js";
import type {
  AppendResult,
  Gap,
  PageOptions,
  ReadResult,
  RetentionPolicy,
  SweepResult,
  TailOptions,
  ThreadLog,
  TrimResult,
} from "../port/thread-log.js";
import { type ThreadRef, threadKey } from "../port/thread-ref.js";
import { wakeTag } from "../port/wake-tag.js";
import { answerRange, type RangeAnswer } from "./answer-range.js";
import { createGroupCommit } from "./group-commit.js";
import { readFold } from "./read-fold.js";
import { retryTransient } from "./retry-transient.js";
import {
  type Amount,
  DEFAULT_SNAPSHOT_POLICY,
  type SnapshotPolicy,
  snapshotDue,
  trimDue,
} from "./snapshot-policy.js";
import { decodeEntry } from "./stored-envelope.js";
import { type TailDeps, tailThread } from "./tail-thread.js";
import { createTopics } from "./topics.js";
import { createWatcher, endWatcher } from "./watcher.js";

export interface ThreadLogOptions<State> {
  readonly store: LogStore;
  readonly clock?: Clock;
  /** With a fold the log keeps snapshots by itself (R20); without one, whoever has the fold saves them. */
  readonly fold?: FoldPort<State>;
  readonly snapshots?: SnapshotPolicy;
  /** Trims as it grows. Age is left to `sweep`, because a thread that nobody writes does not pass here. */
  readonly retention?: RetentionPolicy;
  /** How long a store may be away before appends and tails fail. Default 10 s. */
  readonly giveUpAfterMs?: number;
  /** Failures of snapshots and trims that nobody waits for. */
  readonly onError?: (error: unknown) => void;
}

const DEFAULT_READ_LIMIT = 500;
const DEFAULT_MAX_BUFFERED = 256;
const DEFAULT_MAX_TERMINALS = 1_000;
const KEPT_IN_GAP = 100;

/** Everything that is the same for all stores: group commit, tail, snapshots, retention. One per instance and store. */
export function createThreadLog<State>(options: ThreadLogOptions<State>): ThreadLog {
  const { store, fold, retention } = options;
  const clock = options.clock ?? systemClock;
  const giveUpAfterMs = options.giveUpAfterMs ?? 10_000;
  const snapshots = options.snapshots ?? DEFAULT_SNAPSHOT_POLICY;
  const onError = options.onError ?? (() => {});
  const isTransient = (error: unknown) => store.isTransient(error);
  /** For everything that may be done twice. */
  const retrying = <T>(attempt: () => Promise<T>) =>
    retryTransient({ clock, isTransient, giveUpAfterMs }, attempt);
  const chores = new Map<string, Promise<void>>();
  const dueAgain = new Map<string, () => Promise<unknown>>();
  let closing = false;

  const topics = createTopics((reads) =>
    retrying(() =>
      store.read(
        reads.map(({ topic, place }) => ({ thread: topic.thread, epoch: place.epoch, afterSeq: place.seq })),
        DEFAULT_READ_LIMIT,
      ),
    ),
  );
  const unsubscribe = store.subscribe((wake) => topics.wake(wake));
  const commits = createGroupCommit({
    store,
    clock,
    giveUpAfterMs,
    onCommitted(thread, entries, { unfolded, held }) {
      topics.feed(thread, entries);
      doChores(thread, entries.length, unfolded, held);
    },
    onUnsure: (thread) => topics.wake({ kind: "threads", tags: [wakeTag(thread)] }),
  });

  /** R20, in the background and one at a time per thread: an append never waits for them. */
  function doChores(thread: ThreadRef, count: number, unfolded: Amount, held: Amount): void {
    if (closing || (fold === undefined && retention === undefined)) return;
    // Bytes of this append alone are not told; the average stands in, which only moves the moment.
    const share = (total: Amount) => Math.ceil((total.bytes * count) / Math.max(1, total.entries));
    const trims = retention !== undefined && trimDue(retention, held, { entries: count, bytes: share(held) });
    const folds =
      fold !== undefined && snapshotDue(snapshots, unfolded, { entries: count, bytes: share(unfolded) });
    if (!trims && !folds) return;
    const key = threadKey(thread);
    const chore = () => (trims && retention ? trim(thread, retention) : makeSnapshot(thread));
    if (chores.has(key)) dueAgain.set(key, chore);
    else chores.set(key, runChores(key, chore));
  }

  /** One, and then what fell due while it ran: else a thread that falls silent would keep what it should have dropped. */
  async function runChores(key: string, first: () => Promise<unknown>): Promise<void> {
    for (let chore: typeof first | undefined = first; chore; chore = dueAgain.get(key)) {
      dueAgain.delete(key);
      await chore().catch(onError);
    }
    chores.delete(key);
  }

  async function makeSnapshot(thread: ThreadRef): Promise<void> {
    if (fold === undefined) return;
    const folded = await readFold(log, fold, thread);
    if (folded.kind !== "folded" || folded.position === undefined) return;
    const { position, state } = folded;
    await store.saveSnapshot(thread, { position, foldVersion: fold.version, state: fold.encode(state) });
  }

  async function trim(thread: ThreadRef, policy: RetentionPolicy): Promise<TrimResult> {
    const excess = await store.excess(thread, policy);
    if (excess === undefined) return { dropped: 0, floor: 1 };
    const { epoch, through } = excess;
    if (fold !== undefined && through > 0) {
      const newest = await store.snapshot(thread, fold.version);
      if (newest === undefined || newest.position.seq < through) await makeSnapshot(thread);
    }
    return store.trim(thread, epoch, through, policy.maxTerminals ?? DEFAULT_MAX_TERMINALS);
  }

  async function sweep(policy: RetentionPolicy, page: PageOptions = {}): Promise<SweepResult> {
    const { maxAgeMs } = policy;
    if (maxAgeMs === undefined) return { dropped: 0, next: undefined };
    const { threads, next } = await retrying(() => store.aging(maxAgeMs, page));
    let dropped = 0;
    // One after the other: a round over everything must not be felt by who reads and writes.
    for (const thread of threads) {
      if (closing) break;
      dropped += (await retrying(() => trim(thread, policy))).dropped;
    }
    return { dropped, next: closing ? undefined : next };
  }

  function readRange(thread: ThreadRef, after: { epoch: string | undefined; seq: number }, limit: number) {
    return retrying(async (): Promise<StoredRange | undefined> => {
      const [range] = await store.read([{ thread, epoch: after.epoch, afterSeq: after.seq }], limit);
      return range;
    });
  }

  async function completeGap(
    thread: ThreadRef,
    answer: Extract<RangeAnswer, { kind: "gap" }>,
    afterSeq: number,
  ): Promise<Gap> {
    const { head, reason } = answer;
    if (reason !== "trimmed" || head === undefined) return { ...answer, kept: [] };
    const kept = await retrying(() => store.kept(thread, afterSeq, KEPT_IN_GAP));
    return { ...answer, kept: kept.map((entry) => decodeEntry(head.epoch, entry)) };
  }

  async function read(
    thread: ThreadRef,
    after: LogPosition | undefined,
    limit = DEFAULT_READ_LIMIT,
  ): Promise<ReadResult> {
    const range = await readRange(thread, after ?? { epoch: undefined, seq: 0 }, Math.max(1, limit));
    const answer = answerRange(range, after);
    return answer.kind === "gap" ? completeGap(thread, answer, after?.seq ?? 0) : answer;
  }

  async function head(thread: ThreadRef): Promise<LogPosition | undefined> {
    const range = await readRange(thread, { epoch: "", seq: 0 }, 1);
    return range && { epoch: range.epoch, seq: range.head };
  }

  async function append(
    ...[thread, envelopes, fence]: Parameters<ThreadLog["append"]>
  ): Promise<AppendResult> {
    if (closing) throw new ThroughlineError("shutting_down", "This instance takes no more entries.");
    if (envelopes.length === 0) {
      throw new ThroughlineError("invalid_input", "envelopes: an append needs at least one", {
        details: { field: "envelopes" },
      });
    }
    assertOwnFence(thread, fence);
    return commits.append(thread, fence.token, envelopes);
  }

  const tailDeps: TailDeps = {
    topics,
    read: (thread, place) => readRange(thread, place, DEFAULT_READ_LIMIT),
    completeGap: (thread, answer, place) => completeGap(thread, answer, place.seq),
  };

  const log: ThreadLog = {
    async open(thread, fence, about = {}) {
      assertOwnFence(thread, fence);
      return retrying(() => store.open(thread, fence.token, about.stateKey));
    },
    append,
    read,
    tail(thread, after, { signal, maxBuffered = DEFAULT_MAX_BUFFERED }: TailOptions = {}) {
      const watcher = createWatcher(after, maxBuffered);
      if (closing) endWatcher(watcher, "closing");
      return tailThread(tailDeps, thread, watcher, signal);
    },
    head,
    snapshot: (...asked) => retrying(() => store.snapshot(...asked)),
    saveSnapshot: (thread, snapshot) => retrying(() => store.saveSnapshot(thread, snapshot)),
    trim: (thread, policy) => retrying(() => trim(thread, policy)),
    sweep,
    async terminal(thread, runId) {
      const found = await retrying(() => store.terminal(thread, runId));
      return found && decodeEntry(found.epoch, found.entry);
    },
    // Deleting twice deletes once; only what it counts may then be too little.
    deleteThread: (thread) => retrying(() => store.deleteThread(thread)),
    deleteAccount: (account, subject) => retrying(() => store.deleteAccount(account, subject)),
    threads: (scope, page = {}) => retrying(() => store.threads(scope, page)),
    async close() {
      closing = true;
      for (const watcher of topics.watchers()) endWatcher(watcher, "closing");
      await commits.settled();
      await Promise.all(chores.values());
      unsubscribe();
    },
  };
  return log;
}

/** A fence of another thread would compare tokens that have nothing to do with one another. */
function assertOwnFence(thread: ThreadRef, fence: Fence): void {
  if (fence.threadId === thread.threadId) return;
  throw new ThroughlineError("invalid_input", "fence: is of another thread", { details: { field: "fence" } });
}
