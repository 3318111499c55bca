import { textAt } from "../plain.js";
import { DEFAULT_MESSAGE, type InterruptRequestBase, type InterruptSource } from "../question-source.js";

/** Any other interrupt: shown unchanged, with a text or JSON as response. */
export interface OtherRequest extends InterruptRequestBase {
  readonly kind: "other";
}

export function readOther({ value, schema }: InterruptSource): OtherRequest {
  const text = typeof value === "string" && value.trim() !== "" ? value : undefined;
  return {
    kind: "other",
    message: text ?? textAt(value, "message", "question", "prompt", "title") ?? DEFAULT_MESSAGE,
    value,
    schema,
  };
}
