import type { JsonObject } from "@throughline/ai-core";
import { isObject, textAt } from "../plain.js";
import type { InterruptRequestBase, InterruptSource } from "../question-source.js";

/** An interrupt inside a tool: an action by name, with fields. The form of its response is a convention, not a rule. */
export interface ActionRequest extends InterruptRequestBase {
  readonly kind: "action";
  readonly action: string;
  readonly fields: JsonObject;
}

export function readAction({ value, schema }: InterruptSource): ActionRequest | undefined {
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

/** Encodes the response. Show it before it is sent: a graph may expect another form. */
export function respondToAction(
  _: ActionRequest,
  decision: "approve" | "reject",
  changed: JsonObject = {},
): JsonObject {
  return { ...changed, action: decision };
}

/** Converts AG-UI's `{ approved, editedArgs? }` to the convention of these tools. */
export function adaptAction(question: ActionRequest, response: JsonObject): JsonObject {
  if (typeof response.approved !== "boolean") return response;
  const { approved, editedArgs } = response;
  return respondToAction(question, approved ? "approve" : "reject", isObject(editedArgs) ? editedArgs : {});
}
