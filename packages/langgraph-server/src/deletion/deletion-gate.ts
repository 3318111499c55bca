import { ThroughlineError } from "@throughline/ai-core";
import type { DeletionPhase, DeletionScope } from "./deletion.js";

const DELETING = "deleting";

/** What would begin in the scope of a deletion would be deleted with it, or read what is about to be. */
export function beingDeleted(): ThroughlineError {
  return new ThroughlineError("conflict", "This is being deleted. Try again in a moment.", {
    details: { reason: DELETING, retryAfterMs: 1_000 },
  });
}

export function isBeingDeleted(error: unknown): boolean {
  return error instanceof ThroughlineError && error.code === "conflict" && error.details.reason === DELETING;
}

/** Whether a deletion forbids something in an account, of a subject, in a thread or, without one, beside all threads. */
export function forbids(
  deletion: DeletionScope & { readonly phase: DeletionPhase },
  wish: {
    readonly account: string;
    readonly subject?: string | undefined;
    readonly threadId?: string | undefined;
  },
): boolean {
  const { account, subject, threadId, phase } = deletion;
  return (
    (phase === "erasing" || phase === "sweeping") &&
    account === wish.account &&
    (subject === undefined || subject === (wish.subject ?? "")) &&
    (threadId === undefined || threadId === wish.threadId)
  );
}
