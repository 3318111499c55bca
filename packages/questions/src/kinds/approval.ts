import type { Json, JsonObject } from "@throughline/ai-core";
import type { Mismatch } from "../mismatch.js";
import { isObject, listAt, objectAt, textAt } from "../plain.js";
import type { QuestionBase, QuestionSource } from "../question-source.js";
import { approvalSchema } from "./approvals.js";
import {
  adaptDecision,
  checkDecision,
  type Decision,
  offeredDecisions,
  type ReviewedAction,
  type Spelling,
  spellDecision,
} from "./decision.js";

/** One interrupt for one call. `decision`: LangChain's per-call mode; `approved`: AG-UI's `{ approved, editedArgs? }`. */
export interface ApprovalQuestion extends QuestionBase {
  readonly kind: "approval";
  readonly form: "decision" | "approved";
  readonly spelling: Spelling;
  readonly action: ReviewedAction;
  readonly toolCallId: string | undefined;
}

export function readApproval({ value, schema }: QuestionSource): ApprovalQuestion | undefined {
  if (!isObject(value) || value.type !== "tool_approval") return undefined;
  const name = textAt(value, "name", "tool_name", "toolName") ?? "";
  const branches = branchesOf(schema);
  const edit = branches.get("edit");
  const action: ReviewedAction = {
    name,
    args: objectAt(value, "args") ?? {},
    description: textAt(value, "description"),
    allowed: branches.size > 0 ? [...branches.keys()] : undefined,
    argsSchema: edit && argsIn(edit),
  };
  return {
    kind: "approval",
    form: "decision",
    message: textAt(value, "message") ?? `Approve ${name}?`,
    value,
    schema,
    spelling: "toolCallId" in value || (edit && hasProperty(edit, "editedAction")) ? "camel" : "snake",
    action,
    toolCallId: textAt(value, "tool_call_id", "toolCallId"),
  };
}

/** AG-UI's question about a tool call. The call itself stands in the conversation: the question may name its id alone. */
export function readAgUiApproval(source: QuestionSource): ApprovalQuestion | undefined {
  const { value, schema, reason } = source;
  const properties = objectAt(schema, "properties");
  if (reason !== "tool_call" || objectAt(properties, "approved")?.type !== "boolean") return undefined;
  const call = objectAt(value, "toolCall", "tool_call") ?? value;
  const name = textAt(call, "name", "tool_name", "toolName");
  const edited = objectAt(properties, "editedArgs");
  return {
    kind: "approval",
    form: "approved",
    message:
      (typeof value === "string" ? value : textAt(value, "message")) ?? `Approve ${name ?? "the call"}?`,
    value,
    schema,
    spelling: "camel",
    action: {
      name: name ?? "",
      args: objectAt(call, "args", "arguments", "input") ?? {},
      description: textAt(value, "description"),
      allowed: ["approve", ...(edited ? ["edit"] : []), "reject"],
      argsSchema: edited && objectAt(edited, "properties") ? edited : undefined,
    },
    toolCallId: textAt(value, "toolCallId", "tool_call_id") ?? source.toolCallId,
  };
}

/** Where AG-UI's schema has a field for why a call is not approved: its name. */
export function reasonField({ form, schema }: ApprovalQuestion): string | undefined {
  if (form === "decision") return "message";
  const properties = objectAt(schema, "properties");
  return ["message", "reason", "feedback"].find((name) => objectAt(properties, name) !== undefined);
}

/** The schema is one decision's object, or several of them told apart by `type.const`. */
function branchesOf(schema: JsonObject | undefined): ReadonlyMap<string, JsonObject> {
  if (!schema) return new Map();
  const branches = (listAt(schema, "oneOf", "anyOf") ?? [schema]).map((branch) => resolve(schema, branch));
  return new Map(
    branches.flatMap((branch): [string, JsonObject][] => {
      const type = objectAt(objectAt(branch, "properties"), "type");
      const name = type?.const ?? listAt(type, "enum")?.[0];
      return isObject(branch) && typeof name === "string" ? [[name, branch]] : [];
    }),
  );
}

function resolve(schema: JsonObject, part: Json): Json | undefined {
  const name = textAt(part, "$ref")?.match(/^#\/(\$defs|definitions)\/([^/]+)$/);
  return name ? objectAt(objectAt(schema, name[1] ?? ""), name[2] ?? "") : part;
}

function argsIn(edit: JsonObject): JsonObject | undefined {
  const edited = objectAt(objectAt(edit, "properties"), "edited_action", "editedAction");
  return objectAt(objectAt(edited, "properties"), "args");
}

function hasProperty(branch: JsonObject, name: string): boolean {
  return objectAt(objectAt(branch, "properties"), name) !== undefined;
}

export function answerApproval(question: ApprovalQuestion, decision: Decision): JsonObject {
  const { action, spelling, form } = question;
  return form === "decision"
    ? spellDecision(action, decision, spelling)
    : spellApproved(decision, reasonField(question));
}

/** `editedArgs` replaces the arguments whole. */
function spellApproved(decision: Decision, reason: string | undefined): JsonObject {
  switch (decision.type) {
    case "edit":
      return { approved: true, editedArgs: decision.args };
    case "reject": {
      const isSaid = decision.message !== undefined && reason !== undefined;
      return { approved: false, ...(isSaid && { [reason]: decision.message }) };
    }
    case "approve":
      return { approved: true };
    case "respond":
      return { approved: false };
    case "other":
      return decision.decision;
  }
}

/** Besides a bare decision: a batch of one, and AG-UI's `{ approved }`. */
export function adaptApproval({ action, spelling, form }: ApprovalQuestion, answer: Json): Json {
  if (form === "approved") return answer;
  const decisions = listAt(answer, "decisions");
  const bare = decisions?.length === 1 ? (decisions[0] ?? null) : answer;
  return adaptDecision(action, bare, spelling);
}

/** What AG-UI's schema says is checked for every kind of question alike. */
export function checkApproval({ action, spelling, form }: ApprovalQuestion, answer: Json): Mismatch | null {
  return form === "approved" ? null : checkDecision(action, answer, spelling);
}

export function dismissApproval(question: ApprovalQuestion): JsonObject | undefined {
  const canReject = offeredDecisions(question.action).includes("reject");
  return canReject ? answerApproval(question, { type: "reject" }) : undefined;
}

export function approvalAskSchema({ action, form, schema }: ApprovalQuestion): JsonObject {
  return form === "approved" && schema ? schema : approvalSchema(action);
}
