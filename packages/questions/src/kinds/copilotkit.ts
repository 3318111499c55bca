import { isObject, textAt } from "../plain.js";
import { NO_WORDS, type QuestionBase, type QuestionSource } from "../question-source.js";

/** CopilotKit's own interrupt: a message to show, answered in words. */
export interface CopilotKitQuestion extends QuestionBase {
  readonly kind: "copilotkit";
}

export function readCopilotKit({ value, schema }: QuestionSource): CopilotKitQuestion | undefined {
  if (!isObject(value) || !("__copilotkit_interrupt_value__" in value)) return undefined;
  const { __copilotkit_interrupt_value__: asked } = value;
  const message = typeof asked === "string" ? asked : textAt(asked, "message", "question");
  return { kind: "copilotkit", message: message ?? NO_WORDS, value, schema };
}
