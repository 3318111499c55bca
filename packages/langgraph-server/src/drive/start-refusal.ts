import { ThroughlineError } from "@throughline/ai-core";
import type { StartOutcome } from "./run-service.js";

/** A start that left a run to subscribe to. */
export type AcceptedStart = Extract<StartOutcome, { run: unknown }>;

/** Gives the start if it left a run; else throws why there is none, with what a client needs to go on. */
export function requireAccepted(outcome: StartOutcome): AcceptedStart {
  switch (outcome.kind) {
    case "started":
    case "queued":
    case "attached":
    case "cancelled":
      return outcome;
    case "busy":
      throw new ThroughlineError("busy", "Another run is active in this thread.", {
        details: { runId: outcome.runId, retryAfterMs: outcome.retryAfterMs },
      });
    case "conflict":
      throw new ThroughlineError("conflict", "The question was already answered, or is not open.", {
        details: { interruptIds: [...outcome.interruptIds] },
      });
    case "interrupt_pending":
      throw new ThroughlineError("interrupt_pending", "This thread waits for an answer.", {
        details: { interruptIds: [...outcome.interruptIds] },
      });
  }
}
