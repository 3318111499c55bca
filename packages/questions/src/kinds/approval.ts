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

/** LangChain's per-call mode: one interrupt for one call, answered with one bare decision. */
export interface ApprovalQuestion extends QuestionBase {
  readonly kind: "approval";
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
    message: textAt(value, "message") ?? `Approve ${name}?`,
    value,
    schema,
    spelling: "toolCallId" in value || (edit && hasProperty(edit, "editedAction")) ? "camel" : "snake",
    action,
    toolCallId: textAt(value, "tool_call_id", "toolCallId"),
  };
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

export function answerApproval({ action, spelling }: ApprovalQuestion, decision: Decision): JsonObject {
  return spellDecision(action, decision, spelling);
}

/** Besides a bare decision: a batch of one, and AG-UI's `{ approved }`. */
export function adaptApproval({ action, spelling }: ApprovalQuestion, answer: Json): Json {
  const decisions = listAt(answer, "decisions");
  const bare = decisions?.length === 1 ? (decisions[0] ?? null) : answer;
  return adaptDecision(action, bare, spelling);
}

export function checkApproval({ action, spelling }: ApprovalQuestion, answer: Json): Mismatch | null {
  return checkDecision(action, answer, spelling);
}

export function dismissApproval(question: ApprovalQuestion): JsonObject | undefined {
  const canReject = offeredDecisions(question.action).includes("reject");
  return canReject ? answerApproval(question, { type: "reject" }) : undefined;
}

export function approvalAskSchema({ action }: ApprovalQuestion): JsonObject {
  return approvalSchema(action);
}
