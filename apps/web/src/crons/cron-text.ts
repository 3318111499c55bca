import type { Status } from "../agent-ui/primitives/status";
import type { CronInput, Tick } from "../data/crons";

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
/** A time as a clock of that zone shows it. */
export function timeWords(at: string, timeZone: string, withSeconds: boolean): string {
  return new Intl.DateTimeFormat("en", {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    ...(withSeconds && { second: "2-digit" }),
    hourCycle: "h23",
    timeZone,
  }).format(new Date(at));
}

/** What a tick does, behind the agent's name: `is told “…”`, `runs the command cycle`. */
export function taskWords({ message, command }: CronInput): string {
  if (command) return `runs the command ${command.name}`;
  return message === undefined ? "is started without input" : `is told “${message}”`;
}
export function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
