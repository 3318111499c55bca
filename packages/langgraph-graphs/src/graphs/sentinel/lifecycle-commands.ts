import type { CommandTask } from "./command-task.js";
import type { LogEntry, SentinelUpdate } from "./sentinel-state.js";

export function hire({ lifecycle, settings }: CommandTask): SentinelUpdate {
  if (lifecycle === "hired") return refused("hire", "already_hired", "Already hired.");
  return {
    lifecycle: "hired",
    cycleCount: 0,
    ...logged("hire", "done", `Watching ${settings.watch.join(", ") || "nothing yet"}.`),
  };
}

/**
 * The settings themselves arrived with the run's input and are merged by now; what is left is to say so, once: a client
 * that missed the answer sends the same mutation again.
 */
export function sync({
  clientMutationId,
  settings,
  lastAppliedClientMutationId,
}: CommandTask): SentinelUpdate {
  if (clientMutationId !== undefined && clientMutationId === lastAppliedClientMutationId) return {};
  const note = `Watching ${settings.watch.join(", ") || "nothing"} every ${settings.cycleSeconds} s.`;
  return {
    ...(clientMutationId === undefined ? {} : { lastAppliedClientMutationId: clientMutationId }),
    ...logged("sync", "done", note),
  };
}

export function fire({ lifecycle, cycleCount }: CommandTask): SentinelUpdate {
  if (lifecycle !== "hired") return refused("fire", "not_hired", "Not hired, so there is nothing to end.");
  return { lifecycle: "fired", ...logged("fire", "done", `Ended after ${cycleCount} cycles.`) };
}

export function logged(command: string, outcome: LogEntry["outcome"], note: string): { log: LogEntry } {
  return { log: { command, outcome, note } };
}

export function refused(
  command: string,
  code: NonNullable<LogEntry["code"]>,
  note: string,
): { log: LogEntry } {
  return { log: { command, outcome: "refused", note, code } };
}
