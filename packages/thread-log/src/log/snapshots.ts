import type { LogPosition, ProjectionCodec } from "@throughline/ai-core";
import type { ThreadRef } from "../thread-ref.js";
import type { Deleted, Gap, RetentionPolicy, ThreadLog } from "./thread-log.js";

/** R20: a snapshot is due once this much was appended since the last. */
export interface SnapshotPolicy {
  readonly everyEntries: number;
  readonly everyBytes: number;
}

export const DEFAULT_SNAPSHOT_POLICY: SnapshotPolicy = { everyEntries: 1_000, everyBytes: 512 * 1024 };

export interface Amount {
  readonly entries: number;
  readonly bytes: number;
}

/**
 * Whether this append crossed a multiple of a bound. Stateless on purpose: an attempt that failed is made again at the next
 * multiple, not with every append, and a takeover changes nothing.
 */
export function snapshotDue(policy: SnapshotPolicy, unfolded: Amount, added: Amount): boolean {
  return (
    crossed(unfolded.entries, added.entries, policy.everyEntries) ||
    crossed(unfolded.bytes, added.bytes, policy.everyBytes)
  );
}

/** Trimming is tried with every quarter of the bound, so its cost is spread over as many appends. */
export function trimDue(policy: RetentionPolicy, held: Amount, added: Amount): boolean {
  return (
    exceeds(policy.maxEntries, held.entries, added.entries) ||
    exceeds(policy.maxBytes, held.bytes, added.bytes)
  );
}

function exceeds(bound: number | undefined, total: number, added: number): boolean {
  return bound !== undefined && total > bound && crossed(total, added, Math.max(1, bound / 4));
}

function crossed(total: number, added: number, step: number): boolean {
  return Math.floor(total / step) > Math.floor((total - added) / step);
}
/** How many times as far behind the newest snapshot the older of two neighbours may lie as the newer. */
const REACH = 4;

/**
 * Picks the snapshot that its neighbours make up for, if there is one; `seqs` are all of one fold version, newest first. With
 * one dropped per snapshot made, about two are retained for every time the log has grown fourfold, denser towards its end: the
 * state of a thread d entries before its newest snapshot is rebuilt from at most 3d entries and one interval between snapshots,
 * so a subscriber that reconnects costs in proportion to what it missed, never to the thread's length. The newest two always
 * stay, because a cursor often lies right behind the newest.
 */
export function expendableSnapshot(seqs: readonly number[]): number | undefined {
  const [newest = 0] = seqs;
  return seqs.findLast((_, index) => {
    const newer = seqs[index - 1];
    const older = seqs[index + 1];
    return newer !== undefined && older !== undefined && newest - older <= REACH * (newest - newer);
  });
}

export interface Folded<State> {
  readonly kind: "folded";
  readonly state: State;
  /** The last entry that the state includes; `undefined` when the thread does not exist. */
  readonly position: LogPosition | undefined;
}

const ENTRIES_PER_READ = 1_000;

/**
 * Reads the current state of a thread: the newest snapshot this fold can read, and what was appended since. Costs the snapshot
 * plus at most the entries between two snapshots, however long the thread. A gap means that only the checkpoint has the state
 * (R20).
 */
export async function readProjection<State>(
  log: Pick<ThreadLog, "read" | "snapshot">,
  fold: ProjectionCodec<State>,
  thread: ThreadRef,
): Promise<Folded<State> | Gap | Deleted> {
  const snapshot = await log.snapshot(thread, fold.reads);
  const decoded = snapshot && fold.decode(snapshot.state, snapshot.foldVersion);
  let state = decoded ?? fold.empty;
  let position = decoded === undefined ? undefined : snapshot?.position;
  for (;;) {
    const answer = await log.read(thread, position, ENTRIES_PER_READ);
    if (answer.kind !== "entries") return answer;
    state = fold.apply(state, answer.entries);
    position = answer.entries.at(-1) ?? position ?? answer.head;
    if (position === undefined || position.seq >= (answer.head?.seq ?? 0)) {
      return { kind: "folded", state, position: position && { epoch: position.epoch, seq: position.seq } };
    }
  }
}
