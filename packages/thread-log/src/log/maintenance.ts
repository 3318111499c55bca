import {
  type Clock,
  isStoreOutage,
  type LogEntry,
  type LogPosition,
  type ProjectionCodec,
} from "@throughline/ai-core";
import { type ThreadRef, threadKey } from "../thread-ref.js";
import { waitForStore } from "./commit.js";
import { decodeEntry, encodeEnvelope } from "./entries.js";
import type { CompactionStore, LogStore, StoreCompaction, UncompactedRange } from "./log-store.js";
import { type Amount, readProjection, type SnapshotPolicy, snapshotDue, trimDue } from "./snapshots.js";
import type { RetentionPolicy, ThreadLog, TrimResult } from "./thread-log.js";

export interface Rebuilt<State> {
  readonly state: State;
  /** The last entry that the state includes. */
  readonly position: LogPosition;
}

export interface MaintenanceOptions<State> {
  readonly store: Pick<LogStore, "excess" | "saveSnapshot" | "snapshot" | "trim">;
  readonly log: Pick<ThreadLog, "read" | "snapshot">;
  readonly clock: Clock;
  readonly fold: ProjectionCodec<State> | undefined;
  readonly rebuild: ((thread: ThreadRef) => Promise<Rebuilt<State> | undefined>) | undefined;
  readonly snapshots: SnapshotPolicy;
  readonly retention: RetentionPolicy | undefined;
  /** Aborted when nothing is waited for any more. */
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** R20: a log's snapshots and trims. */
export interface Maintenance {
  /** Reports an append. Tasks that fall due run in the background, one at a time per thread. */
  appended(thread: ThreadRef, count: number, unfolded: Amount, held: Amount): void;
  trim(thread: ThreadRef, policy: RetentionPolicy): Promise<TrimResult>;
  /** Starts nothing more; resolves when all that was begun is done. */
  close(): Promise<void>;
}

const DEFAULT_MAX_TERMINALS = 1_000;

export function createMaintenance<State>(options: MaintenanceOptions<State>): Maintenance {
  const { store, log, clock, fold, snapshots, retention, signal, onError } = options;
  const tasks = new Map<string, Promise<void>>();
  const dueAgain = new Map<string, () => Promise<unknown>>();
  let closing = false;

  function appended(thread: ThreadRef, count: number, unfolded: Amount, held: Amount): void {
    if (closing || (fold === undefined && retention === undefined)) return;
    // Bytes of this append alone are not reported; the average is used instead, which only moves the moment.
    const share = (total: Amount) => Math.ceil((total.bytes * count) / Math.max(1, total.entries));
    const trims = retention !== undefined && trimDue(retention, held, { entries: count, bytes: share(held) });
    const folds =
      fold !== undefined && snapshotDue(snapshots, unfolded, { entries: count, bytes: share(unfolded) });
    if (!trims && !folds) return;
    const key = threadKey(thread);
    const task = () => (trims && retention ? trim(thread, retention) : makeSnapshot(thread));
    if (tasks.has(key)) dueAgain.set(key, task);
    else tasks.set(key, runTasks(key, task));
  }

  /** Runs one task, and then the one that fell due meanwhile: else a thread that falls silent would retain what it should drop. */
  async function runTasks(key: string, first: () => Promise<unknown>): Promise<void> {
    for (let task: typeof first | undefined = first; task; task = dueAgain.get(key)) {
      dueAgain.delete(key);
      await waitForStore({ clock, signal }, task).catch((error: unknown) => {
        if (!signal.aborted) onError(error);
      });
    }
    tasks.delete(key);
  }

  async function makeSnapshot(thread: ThreadRef): Promise<void> {
    if (fold === undefined) return;
    const folded = await readProjection(log, fold, thread);
    if (folded.kind === "deleted") return;
    const known = folded.kind === "gap" ? await rebuild(thread) : folded;
    if (known?.position === undefined) return;
    const { position, state } = known;
    await store.saveSnapshot(thread, { position, foldVersion: fold.version, state: fold.encode(state) });
  }

  /** One thread that can't be rebuilt must not end a sweep over all threads. */
  async function rebuild(thread: ThreadRef): Promise<Rebuilt<State> | undefined> {
    try {
      return await options.rebuild?.(thread);
    } catch (error) {
      if (isStoreOutage(error)) throw error;
      onError(error);
      return undefined;
    }
  }

  async function trim(thread: ThreadRef, policy: RetentionPolicy): Promise<TrimResult> {
    const excess = await store.excess(thread, policy);
    if (excess === undefined) return { dropped: 0, floor: 1 };
    const { epoch, through } = excess;
    const cut = fold === undefined ? through : await coverUpTo(thread, fold, through);
    return store.trim(thread, epoch, cut, policy.maxTerminals ?? DEFAULT_MAX_TERMINALS);
  }

  /** Makes a snapshot if need be, and returns how much of the log up to `through` a snapshot covers that this fold reads. */
  async function coverUpTo(
    thread: ThreadRef,
    { reads }: ProjectionCodec<State>,
    through: number,
  ): Promise<number> {
    if (through === 0) return 0;
    const covered = async () => (await store.snapshot(thread, reads))?.position.seq ?? 0;
    if ((await covered()) >= through) return through;
    await makeSnapshot(thread);
    return Math.min(through, await covered());
  }

  return {
    appended,
    trim,
    async close() {
      closing = true;
      await Promise.all(tasks.values());
    },
  };
}

/** Rules of compaction: which entries of a log are merged, and when. */
export interface Compaction {
  /** How long ago a run must have ended. */
  readonly afterMs: number;
  /**
   * Merges neighbours. An entry that replaces several has the last one's seq; the others stay as they are, the very same
   * objects. The fold after each entry that is left must be what it was.
   */
  merge(entries: readonly LogEntry[]): readonly LogEntry[];
}

/** The most entries that are replaced at a time: a writer of the thread waits for no more. */
const ENTRIES_AT_ONCE = 1_000;

/** Gives the entries dropped. Ends early when the thread changes meanwhile: the next round goes on. */
export async function compactThread(
  store: CompactionStore,
  { afterMs, merge }: Compaction,
  thread: ThreadRef,
  signal: AbortSignal,
): Promise<number> {
  let dropped = 0;
  let since: number | undefined;
  while (!signal.aborted) {
    const range = await store.uncompacted(thread, afterMs, ENTRIES_AT_ONCE);
    if (range === undefined) break;
    const compaction = planCompaction(range, merge);
    if (compaction === undefined || !(await store.compact(thread, compaction))) break;
    since ??= compaction.compacted;
    dropped += compaction.dropped.length;
    if (compaction.through < range.end) continue;
    await store.tidy?.(thread, since, compaction.through);
    break;
  }
  return dropped;
}

function planCompaction(
  { epoch, floor, compacted, entries, snapshots }: UncompactedRange,
  merge: Compaction["merge"],
): StoreCompaction | undefined {
  const through = entries.at(-1)?.seq;
  if (through === undefined) return undefined;
  const before = entries.map((entry) => decodeEntry(epoch, entry));
  const after = splitBehind(before, new Set(snapshots)).flatMap((part) => merge(part));
  const left = new Set(after.map(({ seq }) => seq));
  const known = new Set(before);
  return {
    epoch,
    floor,
    compacted,
    through,
    merged: after.flatMap((entry) => {
      if (known.has(entry)) return [];
      const { text, bytes } = encodeEnvelope(entry.envelope);
      return [{ seq: entry.seq, text, bytes }];
    }),
    dropped: before.flatMap(({ seq }) => (left.has(seq) ? [] : [seq])),
  };
}

/** Splits entries at snapshots: a reader that begins from a snapshot would get entries merged across it a second time. */
function splitBehind(entries: readonly LogEntry[], seqs: ReadonlySet<number>): LogEntry[][] {
  const parts: LogEntry[][] = [[]];
  for (const entry of entries) {
    parts.at(-1)?.push(entry);
    if (seqs.has(entry.seq)) parts.push([]);
  }
  return parts;
}
