import { createHash } from "node:crypto";
import type { ThreadRef } from "@throughline/thread-log";

/** The scope of a deletion: one thread, or everything of an account or of one subject of it. */
export interface DeletionScope {
  readonly account: string;
  /** `undefined` is every subject, the empty one what all of them share. */
  readonly subject: string | undefined;
  readonly threadId?: string | undefined;
}

/** A thread whose checkpoints are to be deleted: its id, and the graph, which determines where they are. */
export interface ListedThread {
  readonly thread: ThreadRef;
  readonly graphId: string;
}

/**
 * Phases of a deletion. `deleting` and `sweeping` let nothing new begin in scope. Between them everything is gone and may be
 * created again, and one lease passes, in which the last write of an abandoned driver may still arrive.
 */
export type DeletionPhase = "deleting" | "deleted" | "sweeping" | "done";

export function isClosedIn(phase: DeletionPhase): boolean {
  return phase === "deleting" || phase === "sweeping";
}

/** Numbers of deleted items. After a crash in the middle of a step they may be too small. */
export interface DeletionCounts {
  readonly threads: number;
  readonly attachments: number;
  readonly storeItems: number;
  readonly crons: number;
}

export const NOTHING_DELETED: DeletionCounts = { threads: 0, attachments: 0, storeItems: 0, crons: 0 };

/** The receipt of a deletion: no name, no text, and for a thread a hash that its owner can recompute. */
export interface Deletion {
  readonly id: string;
  readonly account: string;
  /** The same as in its scope. */
  readonly subject: string | undefined;
  /** Present for the deletion of one thread. */
  readonly threadHash: string | undefined;
  readonly askedBy: string;
  readonly phase: DeletionPhase;
  /** Milliseconds since the Unix epoch, by the store's clock. */
  readonly requestedAt: number;
  readonly deletedAt: number | undefined;
  readonly finishedAt: number | undefined;
  readonly counts: DeletionCounts;
}

export interface NewDeletion {
  readonly scope: DeletionScope;
  /** The thread's graph, for the deletion of one thread. */
  readonly graphId?: string;
  /** A subject, else an account. */
  readonly askedBy: string;
}

export function threadHash(threadId: string): string {
  return createHash("sha256").update(threadId).digest("hex");
}

export function addCounts(a: DeletionCounts, b: Partial<DeletionCounts>): DeletionCounts {
  return {
    threads: a.threads + (b.threads ?? 0),
    attachments: a.attachments + (b.attachments ?? 0),
    storeItems: a.storeItems + (b.storeItems ?? 0),
    crons: a.crons + (b.crons ?? 0),
  };
}

/** A claim on a deletion. A later claim has a higher `attempt`, and an earlier one changes nothing. */
export interface ClaimedDeletion {
  readonly deletion: Deletion;
  readonly scope: DeletionScope;
  readonly attempt: number;
  /** The threads in scope are all written down. */
  readonly isListed: boolean;
}

/**
 * Deletions as jobs, so that they resume after a crash, and their receipts. R18: times are the store's. Methods that change a
 * claimed deletion return `false` when the claim is over.
 */
export interface DeletionStore {
  /**
   * Returns the deletion of the same scope that is still deleting, else a new one. From its return on nothing that `admit` checks
   * begins in scope, and whatever began before can be seen.
   */
  begin(request: NewDeletion): Promise<Deletion>;
  find(id: string): Promise<Deletion | undefined>;
  /**
   * Claims a due deletion, for one caller alone until its lease is over: of the account whose last claim is the longest ago,
   * and of that account the one that is due the longest. Accounts in `except` are passed over.
   */
  claim(leaseMs: number, except?: readonly string[]): Promise<ClaimedDeletion | undefined>;
  renew(claimed: ClaimedDeletion, leaseMs: number): Promise<boolean>;
  /** Writes threads down; `isComplete` with the last of them. */
  list(claimed: ClaimedDeletion, threads: readonly ListedThread[], isComplete: boolean): Promise<boolean>;
  /** Threads that were not checked off in this phase. */
  remaining(claimed: ClaimedDeletion, limit: number): Promise<readonly ListedThread[]>;
  checkOff(claimed: ClaimedDeletion, threads: readonly ListedThread[]): Promise<boolean>;
  count(claimed: ClaimedDeletion, counts: Partial<DeletionCounts>): Promise<boolean>;
  /** Resets the list of threads to unprocessed; `done` deletes it. Due again after that time. */
  move(claimed: ClaimedDeletion, phase: DeletionPhase, dueInMs: number): Promise<boolean>;
  postpone(claimed: ClaimedDeletion, ms: number): Promise<boolean>;
  /** Deletes receipts of deletions that were done longer ago than that. Gives how many, at most `limit`. */
  deleteReceipts(olderThanMs: number, limit: number): Promise<number>;
  /** How many receipts `deleteReceipts` would find. */
  countReceipts(olderThanMs: number): Promise<number>;
  /** How long until something of another account than these is due; `undefined` when nothing is. */
  untilDue(except?: readonly string[]): Promise<number | undefined>;
}
