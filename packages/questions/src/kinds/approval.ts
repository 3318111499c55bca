import type { Json, JsonObject } from "@throughline/ai-core";
import type { ResponseProblem } from "../mismatch.js";
import { isObject, listAt, objectAt, textAt } from "../plain.js";
import type { InterruptRequestBase, InterruptSource } from "../question-source.js";
import { approvalSchema } from "./approvals.js";
import {
  adaptDecision,
  checkDecision,
  type Decision,
  type DecisionDialect,
  encodeDecision,
  offeredDecisions,
  type ReviewedAction,
} from "./decision.js";

/** One interrupt for one call. `decision`: LangChain's per-call mode; `approved`: AG-UI's `{ approved, editedArgs? }`. */
export interface ApprovalRequest extends InterruptRequestBase {
  readonly kind: "approval";
  readonly form: "decision" | "approved";
  readonly spelling: DecisionDialect;
  readonly action: ReviewedAction;
  readonly toolCallId: string | undefined;
}

export function readApproval({ value, schema }: InterruptSource): ApprovalRequest | undefined {
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

/** Parses AG-UI's interrupt about a tool call. The conversation has the call itself: the interrupt may name its id alone. */
export function readAgUiApproval(source: InterruptSource): ApprovalRequest | undefined {
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

/** The name of the field of AG-UI's schema for the reason of a rejection, where it has one. */
export function reasonField({ form, schema }: ApprovalRequest): string | undefined {
  if (form === "decision") return "message";
  const properties = objectAt(schema, "properties");
  return ["message", "reason", "feedback"].find((name) => objectAt(properties, name) !== undefined);
}

/** The schema of each decision by its type. The whole is one decision's object, or several discriminated by `type.const`. */
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

export function respondToApproval(interrupt: ApprovalRequest, decision: Decision): JsonObject {
  const { action, spelling, form } = interrupt;
  return form === "decision"
    ? encodeDecision(action, decision, spelling)
    : encodeApproval(decision, reasonField(interrupt));
}

/** Encodes a decision in AG-UI's form. `editedArgs` replaces all arguments. */
function encodeApproval(decision: Decision, reason: string | undefined): JsonObject {
  switch (decision.type) {
    case "edit":
      return { approved: true, editedArgs: decision.args };
    case "reject": {
      const hasReason = decision.message !== undefined && reason !== undefined;
      return { approved: false, ...(hasReason && { [reason]: decision.message }) };
    }
    case "approve":
      return { approved: true };
    case "respond":
      return { approved: false };
    case "other":
      return decision.decision;
  }
}

/** Accepts a bare decision, a batch of one, and AG-UI's `{ approved }`. */
export function adaptApproval({ action, spelling, form }: ApprovalRequest, response: Json): Json {
  if (form === "approved") return response;
  const decisions = listAt(response, "decisions");
  const bare = decisions?.length === 1 ? (decisions[0] ?? null) : response;
  return adaptDecision(action, bare, spelling);
}

/** Validates a decision. AG-UI's form is validated by its schema, as for every kind of interrupt. */
export function checkApproval(
  { action, spelling, form }: ApprovalRequest,
  response: Json,
): ResponseProblem | null {
  return form === "approved" ? null : checkDecision(action, response, spelling);
}

export function dismissApproval(interrupt: ApprovalRequest): JsonObject | undefined {
  const canReject = offeredDecisions(interrupt.action).includes("reject");
  return canReject ? respondToApproval(interrupt, { type: "reject" }) : undefined;
}

export function approvalAskSchema({ action, form, schema }: ApprovalRequest): JsonObject {
  return form === "approved" && schema ? schema : approvalSchema(action);
}
