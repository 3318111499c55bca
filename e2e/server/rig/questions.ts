/** What makes each of these agents show all it can: text, thoughts, parallel subgraphs with a question, subagents with tools. */
export const QUESTIONS = {
  poet: "a line about rivers",
  ponderer: "is it so?",
  travel: "plan a trip from Amsterdam to San Francisco",
  researcher: "tides and the moon",
} as const;

export type AskedAgent = keyof typeof QUESTIONS;

const ASKED_AGENTS: readonly AskedAgent[] = ["poet", "ponderer", "travel", "researcher"];

/** The agents in turn. */
export function askedAgent(index: number): AskedAgent {
  return ASKED_AGENTS[index % ASKED_AGENTS.length] ?? "poet";
}
