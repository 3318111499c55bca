import type { UserChoice, UserPrompt } from "@throughline/questions";

/** What is filled in for one of the questions to the user. */
export interface PromptDraft {
  readonly chosen: readonly string[];
  /** The answer in words: the whole, or the part that none of the choices is. */
  readonly text: string;
}

export const NO_DRAFT: PromptDraft = { chosen: [], text: "" };

type PromptReading = { readonly answer: string | readonly string[] } | { readonly problem: string };

const OTHER: UserChoice = { value: "\u0000other", label: "Other", isWritten: true };

/** The choices of a question, and behind them one for everything else. */
export function choicesOf({ choices }: UserPrompt): readonly UserChoice[] {
  return choices.some(({ isWritten }) => isWritten) ? choices : [...choices, OTHER];
}

export function readPrompt(prompt: UserPrompt, { chosen, text }: PromptDraft): PromptReading {
  const words = text.trim();
  const isMissing = { problem: "This needs an answer." };
  if (prompt.type === "text") return words === "" && prompt.isRequired ? isMissing : { answer: words };
  const picked = choicesOf(prompt).filter(({ value }) => chosen.includes(value));
  if (picked.some(({ isWritten }) => isWritten) && words === "") return { problem: "Write your answer." };
  const answers = picked.map(({ value, isWritten }) => (isWritten ? words : value));
  if (answers.length === 0 && prompt.isRequired) return isMissing;
  return { answer: prompt.type === "choices" ? answers : (answers[0] ?? "") };
}
