import { type Clock, type FoldPort, isStoreOutage, type LogPosition } from "@throughline/ai-core";
import type { LogStore } from "../port/log-store.js";
import type { RetentionPolicy, ThreadLog, TrimResult } from "../port/thread-log.js";
import { type ThreadRef, threadKey } from "../port/thread-ref.js";
import { readFold } from "./read-fold.js";
import { type Amount, type SnapshotPolicy, snapshotDue, trimDue } from "./snapshot-policy.js";
import { waitForStore } from "./wait-for-store.js";

export interface Rebuilt<State> {
  readonly state: State;
  /** What the state includes. */
  readonly position: LogPosition;
}

export interface UpkeepOptions<State> {
  readonly store: Pick<LogStore, "excess" | "saveSnapshot" | "snapshot" | "trim">;
  readonly log: Pick<ThreadLog, "read" | "snapshot">;
  readonly clock: Clock;
  readonly fold: FoldPort<State> | undefined;
  readonly rebuild: ((thread: ThreadRef) => Promise<Rebuilt<State> | undefined>) | undefined;
  readonly snapshots: SnapshotPolicy;
  readonly retention: RetentionPolicy | undefined;
  /** Aborted when nothing is waited for any more. */
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** R20: a log's snapshots and trims. */
export interface Upkeep {
  /** Tells of an append. What falls due is done in the background, one thing at a time per thread. */
  appended(thread: ThreadRef, count: number, unfolded: Amount, held: Amount): void;
  trim(thread: ThreadRef, policy: RetentionPolicy): Promise<TrimResult>;
  /** Takes nothing more up; resolves when all that was begun is done. */
  close(): Promise<void>;
}

const DEFAULT_MAX_TERMINALS = 1_000;

export function createUpkeep<State>(options: UpkeepOptions<State>): Upkeep {
  const { store, log, clock, fold, snapshots, retention, signal, onError } = options;
  const chores = new Map<string, Promise<void>>();
  const dueAgain = new Map<string, () => Promise<unknown>>();
  let closing = false;

  function appended(thread: ThreadRef, count: number, unfolded: Amount, held: Amount): void {
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
      await waitForStore({ clock, signal }, chore).catch((error: unknown) => {
        if (!signal.aborted) onError(error);
      });
    }
    chores.delete(key);
  }

  async function makeSnapshot(thread: ThreadRef): Promise<void> {
    if (fold === undefined) return;
    const folded = await readFold(log, fold, thread);
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

  /** How much of the log up to `through` a snapshot covers that this fold reads. One is made if need be. */
  async function coverUpTo(thread: ThreadRef, { reads }: FoldPort<State>, through: number): Promise<number> {
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
      await Promise.all(chores.values());
    },
  };
}
