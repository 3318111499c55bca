import type {
  Deletion,
  DeletionCounts,
  DeletionPhase,
  DeletionScope,
  ListedThread,
  NewDeletion,
} from "./deletion.js";

/** A claim on a deletion. A later claim has a higher `attempt`, and an earlier one changes nothing. */
export interface ClaimedDeletion {
  readonly deletion: Deletion;
  readonly scope: DeletionScope;
  readonly attempt: number;
  /** The threads in scope are all written down. */
  readonly isListed: boolean;
}

/**
 * Deletions as jobs, so that a crash resumes them, and what is kept of them afterwards. R18: times are the store's. What
 * changes a claimed deletion gives `false` when the claim is over.
 */
export interface DeletionStore {
  /**
   * The one of the same scope that is still deleting, else a new one. From its return on nothing that `admit` is asked about
   * begins in scope, and whatever began before can be seen.
   */
  begin(request: NewDeletion): Promise<Deletion>;
  find(id: string): Promise<Deletion | undefined>;
  /**
   * One that is due, for one caller alone until its lease is over: of the account whose last claim is the longest ago, and of
   * that account the one that is due the longest. Accounts in `except` are passed over.
   */
  claim(leaseMs: number, except?: readonly string[]): Promise<ClaimedDeletion | undefined>;
  renew(claimed: ClaimedDeletion, leaseMs: number): Promise<boolean>;
  /** Writes threads down; `isComplete` with the last of them. */
  list(claimed: ClaimedDeletion, threads: readonly ListedThread[], isComplete: boolean): Promise<boolean>;
  /** Threads that were not checked off in this phase. */
  remaining(claimed: ClaimedDeletion, limit: number): Promise<readonly ListedThread[]>;
  checkOff(claimed: ClaimedDeletion, threads: readonly ListedThread[]): Promise<boolean>;
  count(claimed: ClaimedDeletion, counts: Partial<DeletionCounts>): Promise<boolean>;
  /** Every thread is to be looked at again; `done` deletes their list. Due again after that time. */
  move(claimed: ClaimedDeletion, phase: DeletionPhase, dueInMs: number): Promise<boolean>;
  postpone(claimed: ClaimedDeletion, ms: number): Promise<boolean>;
  /** Deletes receipts of deletions that were done longer ago than that. Gives how many, at most `limit`. */
  deleteReceipts(olderThanMs: number, limit: number): Promise<number>;
  /** How many receipts `deleteReceipts` would find. */
  countReceipts(olderThanMs: number): Promise<number>;
  /** How long until something of another account than these is due; `undefined` when nothing is. */
  untilDue(except?: readonly string[]): Promise<number | undefined>;
}
