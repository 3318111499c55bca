import type { LogEntry } from "@throughline/ai-core";
import { applyEntry, emptyThreadProjection, type ThreadProjection } from "@throughline/reading";

/**
 * The end of a thread's log, in memory, and the fold before it: a client that reconnects after a short absence costs no read. Holds
 * one fold and applies entries to it on demand, because a fold per entry would retain every version of the state.
 */
export interface RecentEntries {
  reset(fold: ThreadProjection, seq: number): void;
  push(entry: LogEntry): void;
  /** The projection at `seq`; `undefined` when that is too long ago, yet to come, or within what compaction merged. */
  foldAt(seq: number): ThreadProjection | undefined;
  /** Entries after `seq`; `undefined` when some of them are no longer here, or `seq` is within what compaction merged. */
  after(seq: number): readonly LogEntry[] | undefined;
  find(matches: (entry: LogEntry) => boolean): LogEntry | undefined;
  /** Drops all but the last few, because no client streams. */
  shrink(): void;
}

const RETAINED = 256;
const RETAINED_WHEN_IDLE = 16;

export function createRecentEntries(): RecentEntries {
  let base = emptyThreadProjection;
  let baseSeq = 0;
  let entries: LogEntry[] = [];

  function retain(count: number): void {
    const dropped = entries.slice(0, Math.max(0, entries.length - count));
    base = dropped.reduce(applyEntry, base);
    baseSeq = dropped.at(-1)?.seq ?? baseSeq;
    entries = entries.slice(dropped.length);
  }

  /** How many entries lie at or before `seq`. By seq and not by index: where the log was compacted, seqs jump. */
  function countUpTo(seq: number): number | undefined {
    if (seq < baseSeq) return undefined;
    const index = entries.findLastIndex((entry) => entry.seq <= seq);
    const isLast = index === entries.length - 1;
    const reaches = entries[index]?.seq ?? baseSeq;
    return reaches === seq || isLast ? index + 1 : undefined;
  }

  return {
    reset(fold, seq) {
      base = fold;
      baseSeq = seq;
      entries = [];
    },
    push(entry) {
      entries.push(entry);
      // Twice the size before it is cut, so that an entry is moved once on average.
      if (entries.length >= 2 * RETAINED) retain(RETAINED);
    },
    foldAt(seq) {
      const count = seq <= (entries.at(-1)?.seq ?? baseSeq) ? countUpTo(seq) : undefined;
      return count === undefined ? undefined : entries.slice(0, count).reduce(applyEntry, base);
    },
    after(seq) {
      const count = countUpTo(seq);
      return count === undefined ? undefined : entries.slice(count);
    },
    find: (matches) => entries.find(matches),
    shrink: () => retain(RETAINED_WHEN_IDLE),
  };
}
