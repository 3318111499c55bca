import type { LogEntry, LogPosition } from "@throughline/ai-core";

/** Position of a subscriber. Without an epoch: before the first entry of a thread that did not exist when it was subscribed to. */
export interface TailPosition {
  readonly epoch: string | undefined;
  readonly seq: number;
}

/**
 * `behind`: reads the log at its own pace, and nothing is buffered for it. `joining`: its read is under way, and what is
 * committed meanwhile is buffered. `live`: everything up to the buffer was read.
 */
type Mode = "behind" | "joining" | "live";

/**
 * The state of one subscriber of a log. A plain record, so that an idle subscriber costs a few hundred bytes: no closures, no
 * timers, no array of its own (segments are the commits' arrays, shared by all subscribers). Only one that reads has more.
 */
export interface TailBuffer {
  /** Position of the last entry that was handed to the consumer. */
  position: TailPosition;
  mode: Mode;
  readonly maxBuffered: number;
  segments: (readonly LogEntry[])[];
  buffered: number;
  /** More was committed during this join than may be buffered. */
  overflowed: boolean;
  /** Set while the consumer waits. */
  notify: (() => void) | undefined;
  /** Set while it reads from the store. */
  abandonRead: (() => void) | undefined;
  ended: "left" | "closing" | undefined;
}

export function createTailBuffer(after: LogPosition | undefined, maxBuffered: number): TailBuffer {
  return {
    position: after ?? { epoch: undefined, seq: 0 },
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

export function beginJoin(buffer: TailBuffer): void {
  buffer.mode = "joining";
  buffer.overflowed = false;
  dropBuffered(buffer);
}

/** Makes the subscriber read the log again, from its consumer's position. Loses nothing: the log has it. */
export function detachSlow(buffer: TailBuffer): void {
  if (buffer.mode === "joining") buffer.overflowed = true;
  else buffer.mode = "behind";
  dropBuffered(buffer);
  wakeConsumer(buffer);
}

/** Buffers a commit for the subscriber. O(1) whatever the commit's size, but for the one that overlaps what was read. */
export function bufferEntries(buffer: TailBuffer, entries: readonly LogEntry[]): void {
  if (buffer.mode === "behind" || buffer.overflowed) return;
  const fresh = buffer.mode === "live" ? after(entries, lastSeq(buffer)) : entries;
  const first = fresh[0];
  if (!first) return;
  // While it joins, the first commit may begin at any position; the next ones must follow it without a hole.
  const follows = buffer.mode === "live" || buffer.buffered > 0;
  const hole = follows && first.seq !== lastSeq(buffer) + 1;
  // A consumer that is caught up gets a commit of any size; the bound is on what piles up.
  const full = buffer.buffered > 0 && buffer.buffered + fresh.length > buffer.maxBuffered;
  if (hole || full) {
    detachSlow(buffer);
    return;
  }
  buffer.segments.push(fresh);
  buffer.buffered += fresh.length;
  wakeConsumer(buffer);
}

/** Drops what the read already gave. `false` when what is left does not start right after it. */
export function drainBySeq(buffer: TailBuffer): boolean {
  const { epoch, seq } = buffer.position;
  const left = buffer.segments
    .map((segment) => (segment[0]?.epoch === epoch ? after(segment, seq) : segment))
    .filter((segment) => segment.length > 0);
  buffer.segments = left;
  buffer.buffered = left.reduce((sum, segment) => sum + segment.length, 0);
  const first = left[0]?.[0];
  return first === undefined || (first.epoch === epoch && first.seq === seq + 1);
}

/** Drains the buffer as one batch and moves the subscriber's position to its last entry. */
export function drainBuffered(buffer: TailBuffer): readonly LogEntry[] {
  const { segments } = buffer;
  const entries = segments.length === 1 && segments[0] ? segments[0] : segments.flat();
  dropBuffered(buffer);
  const last = entries.at(-1);
  if (last) buffer.position = { epoch: last.epoch, seq: last.seq };
  return entries;
}

export function dropBuffered(buffer: TailBuffer): void {
  if (buffer.buffered === 0) return;
  buffer.segments = [];
  buffer.buffered = 0;
}

export function endTail(buffer: TailBuffer, why: "left" | "closing"): void {
  buffer.ended ??= why;
  buffer.abandonRead?.();
  wakeConsumer(buffer);
}

function wakeConsumer(buffer: TailBuffer): void {
  const { notify } = buffer;
  buffer.notify = undefined;
  notify?.();
}

/** Seq up to which the subscriber has, or is about to have, everything. */
export function lastSeq(buffer: TailBuffer): number {
  return buffer.segments.at(-1)?.at(-1)?.seq ?? buffer.position.seq;
}

/** The entries after `seq`; the same array when that is all of them, because it is shared. */
export function after(entries: readonly LogEntry[], seq: number): readonly LogEntry[] {
  const first = entries[0];
  if (!first || first.seq > seq) return entries;
  // By seq and not by index: where the log is compacted, seqs jump.
  const next = entries.findIndex((entry) => entry.seq > seq);
  return next < 0 ? [] : entries.slice(next);
}
