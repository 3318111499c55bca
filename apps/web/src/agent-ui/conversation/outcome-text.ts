import type { CommandOutcome } from "@throughline/agent-client";
import { ServiceError } from "../../data/request";

const BUSY_TEXT = "The agent is busy with another run.";

/** Why a command did not succeed, and what to do. `undefined`: it succeeded, or the person stopped it. */
export function outcomeText(outcome: CommandOutcome): string | undefined {
  switch (outcome.kind) {
    case "busy":
      return BUSY_TEXT;
    case "unreachable":
      return "The service could not be reached. Your message may or may not have arrived. It is safe to send it again.";
    case "unconfirmed":
      return "The run ended, and the agent did not confirm that it applied this.";
    case "refused":
      return refusalText(outcome.code, outcome.message);
    case "done":
      return outcome.status === "error" ? "The run failed." : undefined;
    case "confirmed":
    case "discarded":
    case "stopped":
    case "superseded":
      return undefined;
  }
}

function refusalText(code: string, message: string): string {
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

/** The error of a run that is started by a route of its own. `busy` is the same outcome as of a command, not a failure. */
export function startProblem(error: unknown): { readonly text: string; readonly tone: "waiting" | "danger" } {
  if (error instanceof ServiceError && error.code === "busy") return { text: BUSY_TEXT, tone: "waiting" };
  return { text: error instanceof Error ? error.message : String(error), tone: "danger" };
}
