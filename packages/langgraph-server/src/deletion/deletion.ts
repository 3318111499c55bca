import { createHash } from "node:crypto";
import type { ThreadRef } from "@throughline/thread-log";

/** What is deleted: one thread, or everything of an account or of one subject of it. */
export interface DeletionScope {
  readonly account: string;
  /** `undefined` is every subject, the empty one what all of them share. */
  readonly subject: string | undefined;
  readonly threadId?: string | undefined;
}

/** A thread whose checkpoints are to be deleted: by its id, and by the graph that says where they are. */
export interface ListedThread {
  readonly thread: ThreadRef;
  readonly graphId: string;
}

/**
 * `deleting` and `sweeping` let nothing new begin in scope. Between them everything is gone and may begin anew, and one lease
 * passes, in which the last write of a driver that was given up may still arrive.
 */
export type DeletionPhase = "deleting" | "deleted" | "sweeping" | "done";

export function isClosedIn(phase: DeletionPhase): boolean {
  return phase === "deleting" || phase === "sweeping";
}

/** After a crash in the middle of a step they may be too small. */
export interface DeletionCounts {
  readonly threads: number;
  readonly attachments: number;
  readonly storeItems: number;
  readonly crons: number;
}

export const NOTHING_DELETED: DeletionCounts = { threads: 0, attachments: 0, storeItems: 0, crons: 0 };

/** What is kept of a deletion: no name, no text, and of a thread a hash that its owner can make again. */
export interface Deletion {
  readonly id: string;
  readonly account: string;
  /** As in its scope. */
  readonly subject: string | undefined;
  /** Of one thread only. */
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
  /** Of the thread, where it is one. */
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
