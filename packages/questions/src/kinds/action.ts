import type { JsonObject } from "@throughline/ai-core";
import { isObject, textAt } from "../plain.js";
import type { QuestionBase, QuestionSource } from "../question-source.js";

/** An interrupt inside a tool: an action by name, with fields. How it is answered is a convention, not a rule. */
export interface ActionQuestion extends QuestionBase {
  readonly kind: "action";
  readonly action: string;
  readonly fields: JsonObject;
}

export function readAction({ value, schema }: QuestionSource): ActionQuestion | undefined {
  if (!isObject(value) || typeof value.action !== "string") return undefined;
  const { action, message: _, ...fields } = value;
  return {
    kind: "action",
    message: textAt(value, "message", "question") ?? `Approve ${action}?`,
    value,
    schema,
    action,
    fields,
  };
}

/** Show what goes before it is sent: a graph may expect something else. */
export function answerAction(
  _: ActionQuestion,
  decision: "approve" | "reject",
  changed: JsonObject = {},
): JsonObject {
  return { ...changed, action: decision };
}

/** AG-UI's `{ approved, editedArgs? }` in the convention of these tools. */
export function adaptAction(question: ActionQuestion, answer: JsonObject): JsonObject {
  if (typeof answer.approved !== "boolean") return answer;
  const { approved, editedArgs } = answer;
  return answerAction(question, approved ? "approve" : "reject", isObject(editedArgs) ? editedArgs : {});
}
