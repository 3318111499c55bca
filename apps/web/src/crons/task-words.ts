import type { CronInput } from "../service/queries/crons";

/** What a tick does, behind the agent's name: `is told “…”`, `runs the command cycle`. */
export function taskWords({ message, command }: CronInput): string {
  if (command) return `runs the command ${command.name}`;
  return message === undefined ? "is started without input" : `is told “${message}”`;
}
