import type { Json, JsonObject } from "@throughline/ai-core";
import { type Mismatch, mismatch } from "../mismatch.js";
import { isObject, nameOf, textAt } from "../plain.js";

/** JavaScript's middleware writes camel case, Python's snake case; nothing else tells them apart. */
export type Spelling = "camel" | "snake";

/** A call of a tool that waits for a decision. */
export interface ReviewedAction {
  readonly name: string;
  readonly args: JsonObject;
  readonly description: string | undefined;
  /** Decisions the policy allows; `undefined` where the question has none for this call. */
  readonly allowed: readonly string[] | undefined;
  /** JSON Schema of the arguments of an edit. */
  readonly argsSchema: JsonObject | undefined;
}

/** One decision, free of spelling. Types the policy allows and this package does not know go as they are. */
export type Decision =
  | { readonly type: "approve" }
  | { readonly type: "edit"; readonly name?: string; readonly args: JsonObject }
  | { readonly type: "reject"; readonly message?: string }
  | { readonly type: "respond"; readonly message: string }
  | { readonly type: "other"; readonly decision: JsonObject };

/** Decisions to offer. Without a policy: the two that every version of the middleware knows. */
export function offeredDecisions({ allowed }: ReviewedAction): readonly string[] {
  return allowed ?? ["approve", "reject"];
}

export function spellDecision(action: ReviewedAction, decision: Decision, spelling: Spelling): JsonObject {
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
 * A decision in the question's own spelling, from the other spelling or from AG-UI's `{ approved, editedArgs?, reason? }`.
 * What is neither is given back as it is, for the check to judge.
 */
export function adaptDecision(action: ReviewedAction, answer: Json, spelling: Spelling): Json {
  if (!isObject(answer)) return answer;
  if (typeof answer.approved === "boolean" && answer.type === undefined) {
    return spellDecision(action, decisionOf(answer, answer.approved), spelling);
  }
  if (answer.type !== "edit") return answer;
  const { editedAction, edited_action, editedArgs, ...rest } = answer;
  const edited = editedAction ?? edited_action ?? (isObject(editedArgs) ? { args: editedArgs } : undefined);
  if (edited === undefined) return answer;
  // A stock form has no field for the name: then it is the tool that was to be called.
  const named = isObject(edited) && edited.name === undefined ? { name: action.name, ...edited } : edited;
  return { ...rest, [editKey(spelling)]: named };
}

function decisionOf(answer: JsonObject, isApproved: boolean): Decision {
  if (!isApproved) {
    const message = textAt(answer, "message", "reason", "feedback");
    return { type: "reject", ...(message !== undefined && { message }) };
  }
  const args = answer.editedArgs ?? answer.edited_args;
  return isObject(args) ? { type: "edit", args } : { type: "approve" };
}

/** Wrong decisions are thrown by the middleware after the answer was saved, so that the thread can't go on. */
export function checkDecision(
  { name, allowed }: ReviewedAction,
  decision: Json | undefined,
  spelling: Spelling,
  at: readonly (string | number)[] = [],
): Mismatch | null {
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
      return checkEdit(decision[editKey(spelling)], [...at, editKey(spelling)]);
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

function checkEdit(edited: Json | undefined, at: readonly (string | number)[]): Mismatch | null {
  if (!isObject(edited)) return mismatch("An edit needs the changed action: its name and args.", ...at);
  if (typeof edited.name !== "string") return mismatch("The name of the tool must be a text.", ...at, "name");
  return isObject(edited.args) ? null : mismatch("The arguments must be an object.", ...at, "args");
}

function editKey(spelling: Spelling): "editedAction" | "edited_action" {
  return spelling === "camel" ? "editedAction" : "edited_action";
}
