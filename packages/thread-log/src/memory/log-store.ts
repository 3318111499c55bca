import type {
  CompactionStore,
  LoadRequest,
  LogStore,
  RangeRequest,
  StoreAppend,
  StoreAppendResult,
  StoredRange,
  StoredThread,
  Wake,
} from "../log/log-store.js";
import { expendableSnapshot } from "../log/snapshots.js";
import type { OpenResult, RetentionPolicy, Snapshot, TrimResult } from "../log/thread-log.js";
import { formatPageToken, pageLimit, parsePageToken } from "../thread-directory.js";
import { subjectKey, type ThreadRef, type ThreadScope, threadKey, threadTag } from "../thread-ref.js";
import {
  ensureThread,
  type MemoryDatabase,
  type MemoryEntry,
  type MemoryThread,
  mintToken,
  newEpoch,
  newestSnapshot,
  TRIM_STEPS,
} from "./database.js";
import { finishRun, heldRun, nextOf } from "./runs.js";

/** The reference the other stores are measured against: every rule of `LogStore`, and nothing that could fail. */
export function createMemoryLogStore(database: MemoryDatabase): LogStore {
  const self = {};
  const find = (thread: ThreadRef) => database.threads.get(threadKey(thread));

  /** Later, never within the caller's turn: a wake-up that arrives in the middle of a commit would hide races. */
  function wake(message: Wake, includeSelf: boolean): void {
    for (const [listener, owner] of database.wakeListeners) {
      if (owner === self && !includeSelf) continue;
      queueMicrotask(() => {
        if (database.wakeListeners.has(listener)) listener(message);
      });
    }
  }

  async function open(thread: ThreadRef, token: bigint, stateKey: string | undefined): Promise<OpenResult> {
    const row = ensureThread(database, thread);
    if (token < row.fence || (row.deleted && token === row.fence)) {
      return { ok: false, reason: row.deleted ? "deleted" : "fenced" };
    }
    row.fence = token;
    row.deleted = false;
    row.stateKey = stateKey ?? row.stateKey;
    return { ok: true, head: { epoch: row.epoch, seq: row.head } };
  }

  async function commit(batch: readonly StoreAppend[]): Promise<readonly StoreAppendResult[]> {
    const results = batch.map(appendOne);
    const tags = batch.filter((_, index) => results[index]?.ok).map(({ thread }) => threadTag(thread));
    if (tags.length > 0) wake({ kind: "threads", tags }, false);
    return results;
  }

  function appendOne({ thread, token, appendId, entries, finish }: StoreAppend): StoreAppendResult {
    const row = find(thread);
    if (!row || row.deleted || row.fence === 0n) return { ok: false, reason: "deleted" };
    if (isOldNews(row.lastAppendId, appendId)) return { ok: false, reason: "fenced" };
    if (row.lastAppendId !== appendId) {
      const isOut = finish !== undefined && !heldRun(database, { runId: finish.runId, token });
      if (token < row.fence || isOut) return { ok: false, reason: "fenced" };
      const at = database.clock.now();
      for (const { text, bytes, endOfRun } of entries) {
        row.head += 1;
        row.entries.push({ seq: row.head, at, text, bytes, endOfRun });
        row.heldBytes += bytes;
        row.unfoldedBytes += bytes;
      }
      row.lastAppendId = appendId;
      row.fence = token;
      row.updatedAt = at;
      if (finish) finishRun(database, { runId: finish.runId, token }, finish);
    }
    return {
      ok: true,
      epoch: row.epoch,
      first: row.head - entries.length + 1,
      last: row.head,
      unfolded: { entries: row.head - newestSnapshot(row), bytes: row.unfoldedBytes },
      held: { entries: row.head - row.floor + 1, bytes: row.heldBytes },
      // An end that is repeated after its run was pruned gets no next run.
      ...(finish && { next: database.runs.has(finish.runId) ? nextOf(database, thread) : undefined }),
    };
  }

  async function read(
    requests: readonly RangeRequest[],
    limit: number,
  ): Promise<readonly (StoredRange | undefined)[]> {
    return requests.map(({ thread, epoch, afterSeq }) => {
      const row = find(thread);
      if (!row) return undefined;
      const from = Math.max(afterSeq + 1, row.floor);
      const wanted = epoch === undefined || epoch === row.epoch;
      return {
        epoch: row.epoch,
        head: row.head,
        floor: row.floor,
        compacted: row.compacted,
        deleted: row.deleted,
        entries: wanted ? entriesFrom(row, from, limit) : [],
        ...resumeAtOf(row, afterSeq),
      };
    });
  }

  async function saveSnapshot(thread: ThreadRef, snapshot: Snapshot): Promise<boolean> {
    const row = find(thread);
    const { epoch, seq } = snapshot.position;
    if (!row || row.deleted || row.epoch !== epoch || seq > row.head || seq + 1 < row.floor) return false;
    if ("resumeAt" in resumeAtOf(row, seq)) return false;
    const older = row.snapshots.get(snapshot.foldVersion) ?? [];
    if (older[0] && older[0].position.seq >= seq) return false;
    const all = [structuredClone(snapshot), ...older];
    const spare = expendableSnapshot(all.map(({ position }) => position.seq));
    row.snapshots.set(
      snapshot.foldVersion,
      all.filter(({ position }) => position.seq !== spare),
    );
    row.unfoldedBytes = bytesOf(entriesFrom(row, newestSnapshot(row) + 1));
    return true;
  }

  async function trim(
    thread: ThreadRef,
    epoch: string,
    through: number,
    maxTerminals: number,
  ): Promise<TrimResult> {
    const row = find(thread);
    if (!row) return { dropped: 0, floor: 1 };
    const before = row.entries.length;
    if (row.epoch === epoch) for (const step of TRIM_STEPS) step(row, { through, maxTerminals });
    return { dropped: before - row.entries.length, floor: row.floor };
  }

  function leaveTombstone(row: MemoryThread): void {
    row.fence = mintToken(database, row);
    row.epoch = newEpoch();
    row.deleted = true;
    row.head = 0;
    row.floor = 1;
    row.compacted = 0;
    row.lastAppendId = undefined;
    row.entries = [];
    row.heldBytes = 0;
    row.unfoldedBytes = 0;
    row.snapshots.clear();
    row.stateKey = "";
  }

  function deleteAll(rows: readonly MemoryThread[]): number {
    const living = rows.filter(({ deleted, fence }) => !deleted && fence > 0n);
    living.forEach(leaveTombstone);
    const tags = living.map(({ thread }) => threadTag(thread));
    if (tags.length > 0) wake({ kind: "threads", tags }, true);
    return living.length;
  }

  return {
    committers: 1,
    open,
    commit,
    read,
    async kept(thread, afterSeq, limit) {
      const row = find(thread);
      if (!row) return [];
      return row.entries
        .filter(({ seq, endOfRun }) => seq > afterSeq && seq < row.floor && endOfRun !== undefined)
        .slice(-limit);
    },
    async terminal(thread, runId) {
      const row = find(thread);
      const entry = row?.entries.findLast(({ endOfRun }) => endOfRun === runId);
      return row && entry && { epoch: row.epoch, entry };
    },
    async snapshot(thread, foldVersions, notAfter = Number.POSITIVE_INFINITY) {
      const row = find(thread);
      const isReadable = ({ position }: Snapshot) =>
        position.seq <= notAfter && position.seq + 1 >= (row?.floor ?? 1);
      const [newest] = foldVersions
        .flatMap((version) => row?.snapshots.get(version)?.find(isReadable) ?? [])
        .sort((a, b) => b.position.seq - a.position.seq || b.foldVersion - a.foldVersion);
      return structuredClone(newest);
    },
    saveSnapshot,
    async excess(thread, policy) {
      const row = find(thread);
      return row && { epoch: row.epoch, through: excessOf(row, policy, database.clock.now()) };
    },
    trim,
    async aging(maxAgeMs, page) {
      const limit = pageLimit(page.limit);
      const before = database.clock.now() - maxAgeMs;
      const rows = [...database.threads.entries()]
        .filter(([key, row]) => (page.after === undefined || key > page.after) && hasEntryBefore(row, before))
        .sort(([a], [b]) => (a < b ? -1 : 1));
      const found = rows.slice(0, limit);
      return {
        threads: found.map(([, { thread }]) => thread),
        next: rows.length > limit ? found.at(-1)?.[0] : undefined,
      };
    },
    compaction: createMemoryCompaction(database),
    async deleteThread(thread) {
      const row = find(thread);
      return row !== undefined && deleteAll([row]) === 1;
    },
    async deleteAccount(account, subject) {
      const everySubject = subject === undefined;
      return deleteAll(inScope(database, { account, subject, everySubject }));
    },
    async threads(scope, page) {
      const after = page.after === undefined ? undefined : parsePageToken(page.after);
      const limit = pageLimit(page.limit);
      const rows = inScope(database, scope)
        .filter(
          ({ deleted, fence, thread }) =>
            !deleted && fence > 0n && (!after || compareThreads(thread, after) > 0),
        )
        .sort((a, b) => compareThreads(a.thread, b.thread));
      const threads = rows.slice(0, limit).map((row) => ({
        thread: row.thread,
        stateKey: row.stateKey,
        head: { epoch: row.epoch, seq: row.head },
        createdAt: row.createdAt,
        updatedAt: row.updatedAt,
      }));
      const last = threads.at(-1);
      return { threads, next: rows.length > limit && last ? formatPageToken(last.thread) : undefined };
    },
    subscribe(listener) {
      database.wakeListeners.set(listener, self);
      return () => void database.wakeListeners.delete(listener);
    },
  };
}

/** A count of fixed width follows the writer's name of 13 characters, so ids of one writer compare as its commits. */
function isOldNews(last: string | undefined, appendId: string): boolean {
  return last !== undefined && last.slice(0, 13) === appendId.slice(0, 13) && appendId < last;
}

function inScope(database: MemoryDatabase, scope: ThreadScope): MemoryThread[] {
  return [...database.threads.values()].filter(
    ({ thread }) =>
      thread.account === scope.account && (scope.everySubject || subjectKey(thread) === subjectKey(scope)),
  );
}

type ThreadSortKey = Pick<ThreadRef, "subject" | "threadId">;

function compareThreads(a: ThreadSortKey, b: ThreadSortKey): number {
  const [left, right] =
    subjectKey(a) === subjectKey(b) ? [a.threadId, b.threadId] : [subjectKey(a), subjectKey(b)];
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Entries from a seq on, found by bisection: O(log entries), however long the log. */
function entriesFrom(row: MemoryThread, seq: number, limit = Number.POSITIVE_INFINITY): MemoryEntry[] {
  const start = indexOf(row, Math.max(seq, row.floor));
  return row.entries.slice(start, start + limit);
}

/** Index of the first entry at or after `seq`. */
function indexOf({ entries }: MemoryThread, seq: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Set where `seq` was merged into a later entry: the last position before it that was not. */
function resumeAtOf(row: MemoryThread, seq: number): { readonly resumeAt?: number } {
  if (seq < row.floor || seq >= row.compacted) return {};
  const index = indexOf(row, seq);
  if (row.entries[index]?.seq === seq) return {};
  return { resumeAt: Math.max(row.entries[index - 1]?.seq ?? 0, row.floor - 1) };
}

function hasEntryBefore(row: MemoryThread, before: number): boolean {
  const [oldest] = entriesFrom(row, row.floor, 1);
  return oldest !== undefined && oldest.at < before;
}

function bytesOf(entries: readonly MemoryEntry[]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes, 0);
}

function excessOf(row: MemoryThread, policy: RetentionPolicy, now: number): number {
  const { maxEntries = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY, maxAgeMs } = policy;
  let count = 0;
  let bytes = 0;
  for (const entry of entriesFrom(row, row.floor).toReversed()) {
    count += 1;
    bytes += entry.bytes;
    const tooOld = maxAgeMs !== undefined && entry.at < now - maxAgeMs;
    if (count > maxEntries || bytes > maxBytes || tooOld) return entry.seq;
  }
  return 0;
}

function createMemoryCompaction(database: MemoryDatabase): CompactionStore {
  const find = (thread: ThreadRef) => database.threads.get(threadKey(thread));
  const uncompacted = (row: MemoryThread, olderThanMs: number) =>
    upToEnd(row, database.clock.now() - olderThanMs);

  return {
    async compactable(olderThanMs, { after, limit }) {
      const size = pageLimit(limit);
      const rows = [...database.threads.entries()]
        .filter(
          ([key, row]) => (after === undefined || key > after) && uncompacted(row, olderThanMs).length > 0,
        )
        .sort(([a], [b]) => (a < b ? -1 : 1));
      const found = rows.slice(0, size);
      return {
        threads: found.map(([, { thread }]) => thread),
        next: rows.length > size ? found.at(-1)?.[0] : undefined,
      };
    },
    async uncompacted(thread, olderThanMs, limit) {
      const row = find(thread);
      const entries = row ? uncompacted(row, olderThanMs) : [];
      if (!row || entries.length === 0) return undefined;
      const { epoch, floor, compacted } = row;
      const page = { entries: entries.slice(0, limit), end: entries.at(-1)?.seq ?? 0 };
      const snapshots = snapshotsOf(row).filter((seq) => seq > compacted && seq <= page.end);
      return { epoch, floor, compacted, ...page, snapshots };
    },
    async compact(thread, { epoch, floor, compacted, through, merged, dropped }) {
      const row = find(thread);
      if (!row || row.deleted || row.epoch !== epoch) return false;
      if (row.floor !== floor || row.compacted !== compacted) return false;
      const gone = new Set(dropped);
      if (snapshotsOf(row).some((seq) => gone.has(seq))) return false;
      const replaced = new Map(merged.map((entry) => [entry.seq, entry]));
      const newest = Math.max(0, ...snapshotsOf(row));
      const count = (entries: readonly MemoryEntry[], from: number) =>
        entries.reduce((sum, { seq, bytes }) => (seq >= from ? sum + bytes : sum), 0);
      const before = row.entries;
      row.entries = before
        .filter(({ seq }) => !gone.has(seq))
        .map((entry) => ({ ...entry, ...replaced.get(entry.seq) }));
      row.compacted = through;
      row.heldBytes = count(row.entries, row.floor);
      row.unfoldedBytes += count(row.entries, newest + 1) - count(before, newest + 1);
      return true;
    },
  };
}

/** After what is compacted, up to the last terminal from before then. */
function upToEnd(row: MemoryThread, before: number): MemoryEntry[] {
  if (row.deleted) return [];
  const left = row.entries.filter(({ seq }) => seq > row.compacted && seq >= row.floor);
  const end = left.findLastIndex(({ endOfRun, at }) => endOfRun !== undefined && at < before);
  return left.slice(0, end + 1);
}

function snapshotsOf(row: MemoryThread): number[] {
  return [...row.snapshots.values()].flatMap((all) => all.map(({ position }) => position.seq));
}

/** Loads a thread from a store that can't do so in one call: its snapshot, then the entries after it. */
export async function loadByParts(
  store: Pick<LogStore, "read" | "snapshot">,
  thread: ThreadRef,
  { foldVersions, returnsTo, shortlyBefore, limit }: LoadRequest,
): Promise<StoredThread | undefined> {
  const newest = await store.snapshot(thread, foldVersions);
  const behind = (newest?.position.seq ?? 0) - (returnsTo ?? Number.POSITIVE_INFINITY);
  const earlier =
    returnsTo !== undefined && behind >= 0 && behind <= shortlyBefore
      ? await store.snapshot(thread, foldVersions, returnsTo - 1)
      : undefined;
  const snapshot = earlier ?? newest;
  const { epoch, seq } = snapshot?.position ?? { epoch: undefined, seq: 0 };
  const [range] = await store.read([{ thread, epoch, afterSeq: seq }], limit);
  // The thread was deleted, or its epoch renewed, between the two calls.
  if (range && snapshot && range.epoch !== epoch) {
    const [reread] = await store.read([{ thread, epoch: undefined, afterSeq: 0 }], limit);
    return reread && { ...reread, snapshot: undefined };
  }
  return range && { ...range, snapshot };
}
