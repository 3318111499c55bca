import type { Checkpoint } from "../../service/queries/checkpoints";

/** What the agent was about to do. */
export function momentWords({
  next,
  source,
  interrupts,
}: Pick<Checkpoint, "next" | "source" | "interrupts">): string {
  if (interrupts.length > 0)
    return interrupts.length === 1 ? "Asks a question" : `Asks ${interrupts.length} questions`;
  if (next.length === 0) return "Done";
  if (source === "input") return "Asked";
  // Several calls of one node are one word.
  return `Before ${[...new Set(next)].join(", ")}`;
}
