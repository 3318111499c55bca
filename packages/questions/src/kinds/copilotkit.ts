import { isObject, textAt } from "../plain.js";
import { DEFAULT_MESSAGE, type InterruptRequestBase, type InterruptSource } from "../question-source.js";

/** CopilotKit's own interrupt: a message to show, with a text as response. */
export interface CopilotKitRequest extends InterruptRequestBase {
  readonly kind: "copilotkit";
}

export function readCopilotKit({ value, schema }: InterruptSource): CopilotKitRequest | undefined {
  if (!isObject(value) || !("__copilotkit_interrupt_value__" in value)) return undefined;
  const { __copilotkit_interrupt_value__: content } = value;
  const message = typeof content === "string" ? content : textAt(content, "message", "question");
  return { kind: "copilotkit", message: message ?? DEFAULT_MESSAGE, value, schema };
}
