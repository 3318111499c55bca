import type { CompactionStore } from "../port/log-store.js";
import { pageLimit } from "../port/page-token.js";
import { type ThreadRef, threadKey } from "../port/thread-ref.js";
import type { MemoryDatabase, MemoryEntry, MemoryThread } from "./memory-database.js";

export function createMemoryCompaction(database: MemoryDatabase): CompactionStore {
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
      const anew = new Map(merged.map((entry) => [entry.seq, entry]));
      const newest = Math.max(0, ...snapshotsOf(row));
      const count = (entries: readonly MemoryEntry[], from: number) =>
        entries.reduce((sum, { seq, bytes }) => (seq >= from ? sum + bytes : sum), 0);
      const before = row.entries;
      row.entries = before
        .filter(({ seq }) => !gone.has(seq))
        .map((entry) => ({ ...entry, ...anew.get(entry.seq) }));
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
