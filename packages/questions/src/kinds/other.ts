import { textAt } from "../plain.js";
import { NO_WORDS, type QuestionBase, type QuestionSource } from "../question-source.js";

/** Anything else: to be shown as it is, and answered in words or as JSON. */
export interface OtherQuestion extends QuestionBase {
  readonly kind: "other";
}

export function readOther({ value, schema }: QuestionSource): OtherQuestion {
  const words = typeof value === "string" && value.trim() !== "" ? value : undefined;
  return {
    kind: "other",
    message: words ?? textAt(value, "message", "question", "prompt", "title") ?? NO_WORDS,
    value,
    schema,
  };
}
