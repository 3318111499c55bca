import type { NewEntry, Wake } from "./log-store.js";
import type { ThreadRef } from "./thread-ref.js";

/** Entries of one thread, as one commit has written them. */
export interface CommittedEntries {
  readonly thread: ThreadRef;
  readonly epoch: string;
  /** Seq of the first of them. */
  readonly first: number;
  readonly entries: readonly NewEntry[];
}

export type BusState =
  | { readonly kind: "connected" }
  /** `reason` is for a log: it may be any error. */
  | { readonly kind: "away"; readonly reason: unknown };

/**
 * Carries committed entries to the other instances, so that their subscribers need not read them from the database. It holds
 * nothing: what it loses, or carries twice, the log makes good.
 */
export interface EntryBus {
  /** Never throws and never waits. Threads whose entries can't be sent are told of by the database instead. */
  publish(commits: readonly CommittedEntries[]): void;
  /**
   * What other instances have committed. While nothing can be heard `all` comes every second, and once more when the bus is
   * back.
   */
  subscribe(listener: (wake: Wake) => void): () => void;
}
