import { type Fence, type LeasePort, ThroughlineError } from "@throughline/ai-core";

/** The condition of a write in the registry's own database: the fence is still held. */
export interface Hold {
  readonly fence: Fence;
  readonly heldQuery: NonNullable<LeasePort["heldQuery"]>;
}

/** A query with a row while a write is allowed. Its parameters are the first ones of the statement it is part of. */
export interface HeldQuery {
  readonly text: string;
  readonly values: readonly string[];
}

/** Without a hold every write is allowed. */
export function heldQueryOf(hold: Hold | undefined): HeldQuery {
  if (!hold) return { text: "select 1", values: [] };
  return { text: hold.heldQuery(1), values: [hold.fence.runId, String(hold.fence.token)] };
}

/** What a write throws that found its fence no longer held. */
export function notHeld(): ThroughlineError {
  return new ThroughlineError("conflict", "Another instance drives this run by now.");
}
