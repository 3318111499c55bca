import type { RetentionPolicy } from "../port/thread-log.js";

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
