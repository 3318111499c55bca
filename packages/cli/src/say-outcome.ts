import type { CommandOutcome } from "@throughline/agent-client";
import type { Refusal } from "./transcript/show-next.js";

export const CONNECTION_LOST = "The connection is lost; trying again. Ctrl-C gives up.";
export const CONNECTED_AGAIN = "Connected again.";

/** Throws where the run may go on. */
export function checkStopped(outcome: CommandOutcome): void {
  if (outcome.kind !== "stopped") throw new Error("The server does not say whether the run was stopped.");
}

/** Why a command did nothing; `undefined` where it did something. */
export function refusalOf(outcome: CommandOutcome): Refusal | undefined {
  switch (outcome.kind) {
    case "refused":
      return outcome;
    case "busy":
      return { code: "busy", message: "Another run is active in this thread." };
    case "unreachable":
      return {
        code: "unreachable",
        message: "The server does not answer: whether the run began is not known.",
      };
    default:
      return undefined;
  }
}
