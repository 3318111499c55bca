import { ThroughlineError } from "@throughline/ai-core";
import { subjectKey } from "./thread-ref.js";

/** Where something is about to be made: in a thread, or beside all threads of a subject. */
export interface GatedScope {
  readonly account: string;
  readonly subject?: string | undefined;
  readonly threadId?: string | undefined;
}

/** What is closed: an account, one subject of it, or one thread. */
export interface ClosedScope {
  readonly account: string;
  /** `undefined` is every subject, the empty one what all of them share. */
  readonly subject?: string | undefined;
  /** `undefined` is every thread, and what is beside them. */
  readonly threadId?: string | undefined;
}

/** What a deletion would have to find must not be made in its scope while it runs. */
export function isCovered(scope: GatedScope, by: ClosedScope): boolean {
  return (
    by.account === scope.account &&
    (by.subject === undefined || by.subject === subjectKey(scope)) &&
    (by.threadId === undefined || by.threadId === scope.threadId)
  );
}

const DELETING = "deleting";

export function beingDeleted(): ThroughlineError {
  return new ThroughlineError("conflict", "This is being deleted. Try again in a moment.", {
    details: { reason: DELETING, retryAfterMs: 1_000 },
  });
}

export function isBeingDeleted(error: unknown): boolean {
  return error instanceof ThroughlineError && error.code === "conflict" && error.details.reason === DELETING;
}
