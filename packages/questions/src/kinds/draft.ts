import { isObject, textAt } from "../plain.js";
import type { InterruptRequestBase, InterruptSource } from "../question-source.js";

/** A text to edit or accept: the response is the text. */
export interface DraftRequest extends InterruptRequestBase {
  readonly kind: "draft";
  readonly draft: string;
}

export function readDraft({ value, schema }: InterruptSource): DraftRequest | undefined {
  const message = textAt(value, "instruction", "task");
  if (!isObject(value) || message === undefined) return undefined;
  const draft = [value.content, value.text, value.draft].find((text) => typeof text === "string");
  return typeof draft === "string" ? { kind: "draft", message, value, schema, draft } : undefined;
}
