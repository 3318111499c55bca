import { textAt } from "../plain.js";
import { type InterruptRequestBase, type InterruptSource, NO_WORDS } from "../question-source.js";

/** Any other interrupt: shown unchanged, with a text or JSON as response. */
export interface OtherQuestion extends InterruptRequestBase {
  readonly kind: "other";
}

export function readOther({ value, schema }: InterruptSource): OtherQuestion {
  const text = typeof value === "string" && value.trim() !== "" ? value : undefined;
  return {
    kind: "other",
    message: text ?? textAt(value, "message", "question", "prompt", "title") ?? NO_WORDS,
    value,
    schema,
  };
}
