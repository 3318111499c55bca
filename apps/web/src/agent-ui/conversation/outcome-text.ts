import type { CommandOutcome } from "@throughline/agent-client";
import { ServiceError } from "../../data/request";

const BUSY_WORDS = "The agent is busy with another run.";

/** Why something a person asked for did not happen, and what they can do. `undefined`: it happened, or they stopped it. */
export function outcomeWords(outcome: CommandOutcome): string | undefined {
  switch (outcome.kind) {
    case "busy":
      return BUSY_WORDS;
    case "unreachable":
      return "The service could not be reached. Your message may or may not have arrived. It is safe to send it again.";
    case "unconfirmed":
      return "The run ended, and the agent did not confirm that it applied this.";
    case "refused":
      return refusalWords(outcome.code, outcome.message);
    case "done":
      return outcome.status === "error" ? "The run failed." : undefined;
    case "confirmed":
    case "discarded":
    case "stopped":
    case "superseded":
      return undefined;
  }
}

function refusalWords(code: string, message: string): string {
  switch (code) {
    case "interrupt_pending":
      return "The agent waits for your answer to its question.";
    case "conflict":
      return "This has been answered in the meantime, perhaps in another tab.";
    case "budget_exceeded":
      return "The budget of this account is used up. Ask an administrator of the service to raise it.";
    case "rate_limited":
      return "Too many requests at once. Wait a moment, then send it again.";
    case "shutting_down":
      return "The service is restarting. Send it again in a moment.";
    default:
      return message;
  }
}

/** The problem of a run that was to start by a route of its own: `busy` is the same outcome as of a command, and no failure. */
export function startProblem(error: unknown): { readonly text: string; readonly tone: "waiting" | "danger" } {
  if (error instanceof ServiceError && error.code === "busy") return { text: BUSY_WORDS, tone: "waiting" };
  return { text: error instanceof Error ? error.message : String(error), tone: "danger" };
}
