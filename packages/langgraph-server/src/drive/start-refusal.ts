import { ThroughlineError } from "@throughline/ai-core";
import type { StartOutcome } from "./run-service.js";

/** Why a run was not started, as an error with what a client needs to go on. */
export function refusalOf(
  outcome: Extract<StartOutcome, { kind: "busy" | "conflict" | "interrupt_pending" }>,
): ThroughlineError {
  switch (outcome.kind) {
    case "busy":
      return new ThroughlineError("busy", "Another run is active in this thread.", {
        details: { runId: outcome.runId, retryAfterMs: outcome.retryAfterMs },
      });
    case "conflict":
      return new ThroughlineError(
        "conflict",
        "This question was answered otherwise already, or is not open.",
        {
          details: { interruptIds: [...outcome.interruptIds] },
        },
      );
    case "interrupt_pending":
      return new ThroughlineError("interrupt_pending", "This thread waits for an answer.", {
        details: { interruptIds: [...outcome.interruptIds] },
      });
  }
}
