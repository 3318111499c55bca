import type { CommandOutcome } from "../commands/command.js";

const REMEMBERED = 100;

/** Commands that a leader received, and their outcomes if they have one: a command that is requested twice runs once. */
export interface AskedCommands {
  has(id: string): boolean;
  outcome(id: string): CommandOutcome | undefined;
  remember(id: string, outcome?: CommandOutcome): void;
  clear(): void;
}

export function createAskedCommands(): AskedCommands {
  const asked = new Map<string, CommandOutcome | undefined>();
  return {
    has: (id) => asked.has(id),
    outcome: (id) => asked.get(id),
    remember(id, outcome) {
      asked.delete(id);
      asked.set(id, outcome);
      const [oldest] = asked.keys();
      if (asked.size > REMEMBERED && oldest !== undefined) asked.delete(oldest);
    },
    clear: () => asked.clear(),
  };
}
