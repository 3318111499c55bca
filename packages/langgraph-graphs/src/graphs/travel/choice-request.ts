/** What an interrupt of this graph carries: a question with everything needed to show it and to answer it. */
export interface ChoiceRequest<Option> {
  readonly message: string;
  readonly options: readonly Option[];
  readonly recommendation: Option;
  readonly agent: "flights" | "hotels";
}

const LONGEST_QUOTE = 120;

/** Says what was wrong with the last answer, before the question is put again. */
export function withObjection(question: string, rejected: string | null, names: readonly string[]): string {
  if (rejected === null) return question;
  return `${rejected} is none of the options. Choose one of: ${names.join(", ")}.\n\n${question}`;
}

export function quoteAnswer(answer: unknown): string {
  const text = typeof answer === "string" ? answer : (JSON.stringify(answer) ?? "An empty answer");
  return `"${text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text}"`;
}
