import type { Status } from "../design/status-dot";
import type { Tick } from "../service/queries/crons";

export interface TickWords {
  readonly status: Status;
  readonly words: string;
}

/** How a tick came out, for a person. */
export function tickWords({ outcome, runStatus }: Pick<Tick, "outcome" | "runStatus">): TickWords {
  switch (outcome.kind) {
    case "pending":
      return { status: "running", words: "Starting" };
    case "skipped":
      return outcome.reason === "busy"
        ? { status: "idle", words: "Skipped: the thread was busy" }
        : { status: "waiting", words: "Skipped: the agent waits for an answer" };
    case "missed":
      return { status: "idle", words: "Missed: the service was not running" };
    case "failed":
      return { status: "error", words: `Did not start: ${outcome.message}` };
    case "started":
      return runWords(runStatus);
  }
}

function runWords(status: Tick["runStatus"]): TickWords {
  switch (status) {
    case "queued":
      return { status: "scheduled", words: "Waiting its turn" };
    case "running":
      return { status: "running", words: "Running" };
    case "success":
      return { status: "idle", words: "Done" };
    case "interrupted":
      return { status: "waiting", words: "Waiting for an answer" };
    case "cancelled":
      return { status: "idle", words: "Stopped" };
    case "error":
      return { status: "error", words: "Failed" };
    case "lost":
      return { status: "error", words: "Lost: the service crashed too often while it ran" };
    case null:
      return { status: "idle", words: "Its run was deleted" };
  }
}
