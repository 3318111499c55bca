import { ThroughlineError } from "@throughline/ai-core";

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
