import type { LogEntry } from "@throughline/ai-core";
import type { CompactionStore, StoreCompaction, UncompactedRange } from "../port/log-store.js";
import type { ThreadRef } from "../port/thread-ref.js";
import { decodeEntry, encodeEnvelope } from "./stored-envelope.js";

/** What of a log is merged, and when. */
export interface Compaction {
  /** How long ago a run must have ended. */
  readonly afterMs: number;
  /**
   * Merges neighbours. An entry that stands for several has the last one's seq; the others stay as they are, the very same
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

/** A snapshot stands between two entries: what was merged across it would be told twice to who begins from it. */
function splitBehind(entries: readonly LogEntry[], seqs: ReadonlySet<number>): LogEntry[][] {
  const parts: LogEntry[][] = [[]];
  for (const entry of entries) {
    parts.at(-1)?.push(entry);
    if (seqs.has(entry.seq)) parts.push([]);
  }
  return parts;
}
