import type { Json, JsonObject } from "@throughline/ai-core";
import { mismatch, type ResponseProblem } from "../mismatch.js";
import { isObject, nameOf, textAt } from "../plain.js";

/** The dialect of a middleware: JavaScript's writes camel case, Python's snake case; nothing else distinguishes them. */
export type DecisionDialect = "camel" | "snake";

/** A call of a tool that waits for a decision. */
export interface ReviewedAction {
  readonly name: string;
  readonly args: JsonObject;
  readonly description: string | undefined;
  /** Decisions the policy allows; `undefined` where the interrupt has no policy for this call. */
  readonly allowed: readonly string[] | undefined;
  /** JSON Schema of the arguments of an edit. */
  readonly argsSchema: JsonObject | undefined;
}

/** One decision, independent of the dialect. Types that the policy allows and this package does not know are passed through. */
export type Decision =
  | { readonly type: "approve" }
  | { readonly type: "edit"; readonly name?: string; readonly args: JsonObject }
  | { readonly type: "reject"; readonly message?: string }
  | { readonly type: "respond"; readonly message: string }
  | { readonly type: "other"; readonly decision: JsonObject };

/** The decisions to offer. Without a policy: the two that every version of the middleware knows. */
export function offeredDecisions({ allowed }: ReviewedAction): readonly string[] {
  return allowed ?? ["approve", "reject"];
}

export function encodeDecision(
  action: ReviewedAction,
  decision: Decision,
  spelling: DecisionDialect,
): JsonObject {
  switch (decision.type) {
    case "approve":
      return { type: "approve" };
    case "edit":
      return {
        type: "edit",
        [editKey(spelling)]: { name: decision.name ?? action.name, args: decision.args },
      };
    case "reject":
      return { type: "reject", ...(decision.message !== undefined && { message: decision.message }) };
    case "respond":
      return { type: "respond", message: decision.message };
    case "other":
      return decision.decision;
  }
}

/**
 * Converts a decision to the interrupt's own dialect, from the other one or from AG-UI's `{ approved, editedArgs?, reason? }`.
 * Any other is returned unchanged, for the validation to judge.
 */
export function adaptDecision(action: ReviewedAction, response: Json, spelling: DecisionDialect): Json {
  if (!isObject(response)) return response;
  if (typeof response.approved === "boolean" && response.type === undefined) {
    return encodeDecision(action, decisionOf(response, response.approved), spelling);
  }
  if (response.type !== "edit") return response;
  const { editedAction, edited_action, editedArgs, ...rest } = response;
  const edited = editedAction ?? edited_action ?? (isObject(editedArgs) ? { args: editedArgs } : undefined);
  if (edited === undefined) return response;
  // A stock form has no field for the name: then it is the name of the reviewed tool.
  const named = isObject(edited) && edited.name === undefined ? { name: action.name, ...edited } : edited;
  return { ...rest, [editKey(spelling)]: named };
}

function decisionOf(response: JsonObject, isApproved: boolean): Decision {
  if (!isApproved) {
    const message = textAt(response, "message", "reason", "feedback");
    return { type: "reject", ...(message !== undefined && { message }) };
  }
  const args = response.editedArgs ?? response.edited_args;
  return isObject(args) ? { type: "edit", args } : { type: "approve" };
}

/** Validates a decision. The middleware throws on a wrong one only after the response was stored, and the thread can't continue. */
export function checkDecision(
  { name, allowed }: ReviewedAction,
  decision: Json | undefined,
  spelling: DecisionDialect,
  at: readonly (string | number)[] = [],
): ResponseProblem | null {
  if (!isObject(decision))
    return mismatch(`Expected a decision with a type, got ${nameOf(decision)}.`, ...at);
  const { type, message } = decision;
  if (typeof type !== "string")
    return mismatch("A decision needs a type, such as approve or reject.", ...at, "type");
  if (allowed && !allowed.includes(type)) {
    return mismatch(`${type} is not allowed for ${name}. Allowed: ${allowed.join(", ")}.`, ...at, "type");
  }
  switch (type) {
    case "edit":
      return validateEdit(decision[editKey(spelling)], [...at, editKey(spelling)]);
    case "reject":
      return message === undefined || typeof message === "string"
        ? null
        : mismatch("The reason must be a text.", ...at, "message");
    case "respond":
      return typeof message === "string" ? null : mismatch("A response needs a text.", ...at, "message");
    default:
      return null;
  }
}

function validateEdit(edited: Json | undefined, at: readonly (string | number)[]): ResponseProblem | null {
  if (!isObject(edited)) return mismatch("An edit needs the changed action: its name and args.", ...at);
  if (typeof edited.name !== "string") return mismatch("The name of the tool must be a text.", ...at, "name");
  return isObject(edited.args) ? null : mismatch("The arguments must be an object.", ...at, "args");
}

function editKey(spelling: DecisionDialect): "editedAction" | "edited_action" {
  return spelling === "camel" ? "editedAction" : "edited_action";
}
