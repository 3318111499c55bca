import type { Status } from "../agent-ui/primitives/status";
import type { CronInput, Tick } from "../data/crons";

export interface TickText {
  readonly status: Status;
  readonly words: string;
}

/** Describes a tick's outcome for a person. */
export function tickText({ outcome, runStatus }: Pick<Tick, "outcome" | "runStatus">): TickText {
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
      return runText(runStatus);
  }
}

function runText(status: Tick["runStatus"]): TickText {
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
/** Formats a time in a time zone. */
export function formatTime(at: string, timeZone: string, withSeconds: boolean): string {
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

/** Describes a tick's task, after the agent's name: `runs the command cycle`. */
export function taskText({ message, command }: CronInput): string {
  if (command) return `runs the command ${command.name}`;
  return message === undefined ? "is started without input" : `is told “${message}”`;
}
export function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
