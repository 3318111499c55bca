import type { Action } from "../policy/action.js";
import type { BadRow } from "../thread/service-observer.js";
import type { AuditEntry, NewAuditEntry } from "./audit-entry.js";

/** Where a page ends: entries are in order of time, then of id. */
export interface AuditPosition {
  readonly at: number;
  readonly id: string;
}

export interface AuditQuery {
  readonly action?: Action | undefined;
  readonly subject?: string | undefined;
  readonly order: "newest" | "oldest";
  readonly after?: AuditPosition | undefined;
  readonly limit: number;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly next: AuditPosition | undefined;
}

/** What is deleted, as a deletion names it. */
export interface AuditScope {
  readonly account: string;
  /** `undefined` is every subject, the empty one what all of them share. */
  readonly subject: string | undefined;
  readonly threadId?: string | undefined;
}

/** Which entries outlive what they are about. */
export const AUDIT_KEEPS = ["none", "receipts", "all"] as const;
export type AuditKeep = (typeof AUDIT_KEEPS)[number];

/** An entry that waits to be written. */
export interface PendingEntry {
  readonly entry: NewAuditEntry;
  /** How long ago it happened, by the process' clock: it may have waited for the store. */
  readonly ageMs: number;
}

/** Entries are added and read. Only deletion and retention take any away. */
export interface AuditStore {
  /** Safe to repeat: an entry is known by its id. */
  append(entries: readonly PendingEntry[]): Promise<void>;
  /** `next` is where the next page begins, if there is one. */
  list(account: string, query: AuditQuery): Promise<AuditPage>;
  /** Applies `keep` to entries in scope that are not newer than `until`. */
  deleteScope(scope: AuditScope, until: number, keep: AuditKeep): Promise<void>;
  /** Deletes at most `limit` entries that are older. Gives how many there were. */
  prune(olderThanMs: number, limit: number): Promise<number>;
  onBadRow(listener: (row: BadRow) => void): void;
}

export const DELETIONS: ReadonlySet<Action> = new Set(["delete_thread", "delete_data"]);

/** Whether an entry of something deleted goes, stays without content or stays as it is. */
export function fateOf(
  { subject, threadId }: AuditScope,
  action: Action,
  keep: AuditKeep,
): "deleted" | "redacted" | "kept" {
  if (keep === "all") return "kept";
  if (keep === "none") return "deleted";
  // Else a person could take their approvals out of the record by deleting their threads or themselves.
  const isOfAccount = subject === undefined && threadId === undefined;
  return !isOfAccount || DELETIONS.has(action) ? "redacted" : "deleted";
}
