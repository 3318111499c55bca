import type { CommandOutcome, RunNames, ScheduledOutcome } from "./command.js";

/** The outcome, with the names of the command's run where it had one. */
export function nameRun(outcome: ScheduledOutcome, run: RunNames): CommandOutcome {
  switch (outcome.kind) {
    case "done":
    case "confirmed":
    case "unconfirmed":
      return { ...outcome, ...run };
    default:
      return outcome;
  }
}
