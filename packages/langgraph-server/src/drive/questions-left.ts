import type { FreshRunStart, GraphFinal, Interrupt } from "@throughline/ai-core";
import type { ThreadFold } from "@throughline/reading";

/**
 * What a run leaves open. One that failed or was stopped leaves every question it did not answer: those its checkpoint
 * still lists, and, where that could not be read, those the thread showed before. What it did answer was used up by it, even
 * where a server still lists it.
 */
export function questionsLeft(
  final: GraphFinal,
  start: FreshRunStart,
  { interrupts: shown }: Pick<ThreadFold, "interrupts">,
): readonly Interrupt[] {
  if (final.status === "success") return [];
  if (final.status === "interrupted") return final.interrupts;
  const answered = start.kind === "resume" ? Object.keys(start.answers) : [];
  const kept = answered.length > 0 ? shown : [];
  const open = new Map([...kept, ...final.interrupts].map((asked) => [asked.interrupt_id, asked]));
  for (const id of answered) open.delete(id);
  return [...open.values()];
}
