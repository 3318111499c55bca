import type { LogEntry, LogPosition } from "@throughline/ai-core";

/** Where a watcher stands. Without an epoch: before the first entry of a thread that did not exist when it was asked for. */
export interface Place {
  readonly epoch: string | undefined;
  readonly seq: number;
}

/**
 * `behind`: reads the log at its own pace, and nothing is kept for it. `joining`: its read is under way, and what is
 * committed meanwhile is kept. `live`: everything up to what is kept was read.
 */
type Mode = "behind" | "joining" | "live";

/**
 * A plain record, so that an idle watcher costs a few hundred bytes: no closures, no timers, no buffer of its own (segments
 * are the commits' arrays, shared by all watchers). Only one that reads has more.
 */
export interface Watcher {
  /** Of what was handed to the consumer. */
  place: Place;
  mode: Mode;
  readonly maxBuffered: number;
  segments: (readonly LogEntry[])[];
  buffered: number;
  /** More was committed during this join than may be kept. */
  overflowed: boolean;
  /** Set while the consumer waits. */
  notify: (() => void) | undefined;
  /** Set while it reads from the store. */
  abandonRead: (() => void) | undefined;
  ended: "left" | "closing" | undefined;
}

export function createWatcher(after: LogPosition | undefined, maxBuffered: number): Watcher {
  return {
    place: after ?? { epoch: undefined, seq: 0 },
    mode: "behind",
    maxBuffered: Math.max(1, maxBuffered),
    segments: [],
    buffered: 0,
    overflowed: false,
    notify: undefined,
    abandonRead: undefined,
    ended: undefined,
  };
}

export function beginJoin(watcher: Watcher): void {
  watcher.mode = "joining";
  watcher.overflowed = false;
  dropBuffered(watcher);
}

/** Makes the watcher read the log again, from where its consumer stands. Loses nothing: the log has it. */
export function fallBehind(watcher: Watcher): void {
  if (watcher.mode === "joining") watcher.overflowed = true;
  else watcher.mode = "behind";
  dropBuffered(watcher);
  wakeConsumer(watcher);
}

/** Keeps a commit for the watcher. O(1) whatever the commit's size, but for the one that overlaps what was read. */
export function keepFor(watcher: Watcher, entries: readonly LogEntry[]): void {
  if (watcher.mode === "behind" || watcher.overflowed) return;
  const fresh = watcher.mode === "live" ? after(entries, lastSeq(watcher)) : entries;
  const first = fresh[0];
  if (!first) return;
  // While it joins, the first commit may be of any place; what follows it must still follow it.
  const follows = watcher.mode === "live" || watcher.buffered > 0;
  const hole = follows && first.seq !== lastSeq(watcher) + 1;
  // A consumer that keeps up takes a commit of any size; the bound is on what piles up.
  const full = watcher.buffered > 0 && watcher.buffered + fresh.length > watcher.maxBuffered;
  if (hole || full) {
    fallBehind(watcher);
    return;
  }
  watcher.segments.push(fresh);
  watcher.buffered += fresh.length;
  wakeConsumer(watcher);
}

/** Drops what the read already gave. `false` when what is left does not start right after it. */
export function drainBySeq(watcher: Watcher): boolean {
  const { epoch, seq } = watcher.place;
  const left = watcher.segments
    .map((segment) => (segment[0]?.epoch === epoch ? after(segment, seq) : segment))
    .filter((segment) => segment.length > 0);
  watcher.segments = left;
  watcher.buffered = left.reduce((sum, segment) => sum + segment.length, 0);
  const first = left[0]?.[0];
  return first === undefined || (first.epoch === epoch && first.seq === seq + 1);
}

/** What is kept, as one batch; the watcher then stands behind its last entry. */
export function takeBuffered(watcher: Watcher): readonly LogEntry[] {
  const { segments } = watcher;
  const entries = segments.length === 1 && segments[0] ? segments[0] : segments.flat();
  dropBuffered(watcher);
  const last = entries.at(-1);
  if (last) watcher.place = { epoch: last.epoch, seq: last.seq };
  return entries;
}

export function dropBuffered(watcher: Watcher): void {
  if (watcher.buffered === 0) return;
  watcher.segments = [];
  watcher.buffered = 0;
}

export function endWatcher(watcher: Watcher, why: "left" | "closing"): void {
  watcher.ended ??= why;
  watcher.abandonRead?.();
  wakeConsumer(watcher);
}

function wakeConsumer(watcher: Watcher): void {
  const { notify } = watcher;
  watcher.notify = undefined;
  notify?.();
}

/** Up to where the watcher has, or is about to have, everything. */
export function lastSeq(watcher: Watcher): number {
  return watcher.segments.at(-1)?.at(-1)?.seq ?? watcher.place.seq;
}

/** The entries after `seq`; the same array when that is all of them, because it is shared. */
export function after(entries: readonly LogEntry[], seq: number): readonly LogEntry[] {
  const first = entries[0];
  if (!first || first.seq > seq) return entries;
  // By seq and not by place: where the log is compacted, seqs jump.
  const next = entries.findIndex((entry) => entry.seq > seq);
  return next < 0 ? [] : entries.slice(next);
}
