import type { JsonObject } from "@throughline/ai-core";
import type { Cron, CronRequest } from "../data/crons";

/** Content of the cron form. */
export interface CronDraft {
  readonly agent: string;
  readonly schedule: string;
  readonly timeZone: string;
  /** `one`: one thread for all ticks; `each`: a new thread with each tick. */
  readonly threadMode: "one" | "each";
  /** `undefined`: not chosen yet. */
  readonly threadName: string | undefined;
  readonly does: "message" | "command";
  readonly message: string;
  readonly command: string;
  /** JSON text; empty is none. */
  readonly args: string;
  readonly overlap: Cron["overlap"];
  readonly missed: Cron["missed"];
}

export type CronProblems = Partial<Readonly<Record<keyof CronDraft, string>>>;

export type CronRequestOutcome =
  | { readonly isReady: true; readonly request: CronRequest }
  | { readonly isReady: false; readonly problems: CronProblems };

/** Converts the form's content to a request, or lists its problems. Retains the cron's `state`, which the form can't show. */
export function toCronRequest(draft: CronDraft, before?: Cron): CronRequestOutcome {
  const problems: { -readonly [Key in keyof CronProblems]: CronProblems[Key] } = {};
  const schedule = draft.schedule.trim();
  const threadName = draft.threadName?.trim() ?? "";
  const args = draft.does === "command" ? readArgs(draft.args) : undefined;
  if (draft.agent === "") problems.agent = "Choose an agent.";
  if (schedule === "") problems.schedule = "Enter when it should run.";
  if (draft.threadMode === "one" && threadName === "") problems.threadName = "Name the thread.";
  if (draft.does === "message" && draft.message.trim() === "")
    problems.message = "Enter what the agent is told.";
  if (draft.does === "command" && draft.command === "") problems.command = "Choose a command.";
  if (args === "wrong")
    problems.args = 'Write a JSON object, such as { "watch": ["error rate"] }, or nothing.';
  if (Object.keys(problems).length > 0 || args === "wrong") return { isReady: false, problems };
  const input =
    draft.does === "message"
      ? { message: draft.message.trim() }
      : { command: { name: draft.command, ...(args && { args }) } };
  return {
    isReady: true,
    request: {
      agent: draft.agent,
      threadName: draft.threadMode === "one" ? threadName : null,
      schedule,
      timeZone: draft.timeZone,
      input: { ...input, ...(before?.input.state && { state: before.input.state }) },
      overlap: draft.overlap,
      missed: draft.missed,
    },
  };
}

export function draftOf(cron: Cron): CronDraft {
  const { input, threadName } = cron;
  return {
    agent: cron.agent,
    schedule: cron.schedule,
    timeZone: cron.timeZone,
    threadMode: threadName === null ? "each" : "one",
    threadName: threadName ?? undefined,
    does: input.command ? "command" : "message",
    message: input.message ?? "",
    command: input.command?.name ?? "",
    args: input.command?.args ? JSON.stringify(input.command.args, undefined, 2) : "",
    overlap: cron.overlap,
    missed: cron.missed,
  };
}

export function newDraft(agent: string, timeZone: string): CronDraft {
  return {
    agent,
    schedule: "every 10 s",
    timeZone,
    threadMode: "one",
    threadName: undefined,
    does: "message",
    message: "",
    command: "",
    args: "",
    overlap: "skip",
    missed: "skip",
  };
}

function readArgs(text: string): JsonObject | undefined | "wrong" {
  if (text.trim() === "") return undefined;
  try {
    const args: unknown = JSON.parse(text);
    return typeof args === "object" && args !== null && !Array.isArray(args) ? (args as JsonObject) : "wrong";
  } catch {
    return "wrong";
  }
}
