import type { Json, JsonObject } from "@throughline/ai-core";
import { mismatch, type ResponseProblem } from "../mismatch.js";
import { isObject, listAt, nameOf, objectAt, textAt, textsIn } from "../plain.js";
import type { InterruptRequestBase, InterruptSource } from "../question-source.js";
import {
  adaptDecision,
  checkDecision,
  type Decision,
  type DecisionDialect,
  encodeDecision,
  offeredDecisions,
  type ReviewedAction,
} from "./decision.js";

/** LangChain's human-in-the-loop middleware, deepagents' `interruptOn`: every gated call of one model turn. */
export interface ToolApprovalsRequest extends InterruptRequestBase {
  readonly kind: "approvals";
  readonly spelling: DecisionDialect;
  /** In the order of the calls, which is the order of the decisions. */
  readonly actions: readonly ReviewedAction[];
}

export function readApprovals({ value, schema }: InterruptSource): ToolApprovalsRequest | undefined {
  const requests = listAt(value, "actionRequests", "action_requests");
  if (!isObject(value) || !requests || requests.length === 0 || !requests.every(isObject)) return undefined;
  const spelling = Array.isArray(value.actionRequests) ? "camel" : "snake";
  const policies = listAt(value, "reviewConfigs", "review_configs") ?? [];
  const actions = requests.map((request, index): ReviewedAction => {
    const name = textAt(request, "name", "action") ?? "";
    const policy = policyOf(policies, name, index);
    const allowed = listAt(policy, "allowedDecisions", "allowed_decisions");
    return {
      name,
      args: objectAt(request, "args", "arguments") ?? {},
      description: textAt(request, "description"),
      allowed: allowed && textsIn(allowed),
      argsSchema: objectAt(policy, "argsSchema", "args_schema"),
    };
  });
  return { kind: "approvals", message: messageOf(value, actions), value, schema, spelling, actions };
}

/** Finds a call's policy by position, as the middleware writes them; by name where the positions don't match. */
function policyOf(policies: readonly Json[], name: string, index: number): Json | undefined {
  const isFor = (policy: Json | undefined) => textAt(policy, "actionName", "action_name") === name;
  return isFor(policies[index]) ? policies[index] : policies.find(isFor);
}

function messageOf(value: JsonObject, actions: readonly ReviewedAction[]): string {
  const names = [...new Set(actions.map(({ name }) => name))].join(", ");
  const own = textAt(value, "message", "question");
  return own ?? (actions.length === 1 ? `Approve ${names}?` : `Approve ${actions.length} calls: ${names}?`);
}

export function respondToApprovals(
  question: ToolApprovalsRequest,
  decisions: readonly Decision[],
): JsonObject {
  const encoded = question.actions.map((action, index) =>
    encodeDecision(action, decisions[index] ?? { type: "approve" }, question.spelling),
  );
  return { decisions: encoded };
}

/** Accepts `{ decisions }`, a bare list, one decision for one call, and AG-UI's `{ approved }` for all calls. */
export function adaptApprovals({ actions, spelling }: ToolApprovalsRequest, response: Json): Json {
  const given = Array.isArray(response) ? response : isObject(response) ? response.decisions : undefined;
  if (Array.isArray(given)) {
    const decisions = given.map((decision, index) => {
      const action = actions[index];
      return action ? adaptDecision(action, decision, spelling) : decision;
    });
    return isObject(response) ? { ...response, decisions } : { decisions };
  }
  const isForAll = isObject(response) && typeof response.approved === "boolean";
  const isForOne = isObject(response) && typeof response.type === "string" && actions.length === 1;
  if (!isForAll && !isForOne) return response;
  return { decisions: actions.map((action) => adaptDecision(action, response, spelling)) };
}

export function checkApprovals(
  { actions, spelling }: ToolApprovalsRequest,
  response: Json,
): ResponseProblem | null {
  if (!isObject(response)) return mismatch(`Expected an object with decisions, got ${nameOf(response)}.`);
  const { decisions } = response;
  if (!Array.isArray(decisions)) return mismatch("The list of decisions is missing.", "decisions");
  if (decisions.length !== actions.length) {
    const wanted = `${actions.length} ${actions.length === 1 ? "decision" : "decisions"}`;
    return mismatch(`Expected ${wanted}, one for each call, got ${decisions.length}.`, "decisions");
  }
  for (const [index, action] of actions.entries()) {
    const problem = checkDecision(action, decisions[index], spelling, ["decisions", index]);
    if (problem) return problem;
  }
  return null;
}

/** Dismisses the interrupt by rejecting every call, where the policies allow it. */
export function dismissApprovals(question: ToolApprovalsRequest): JsonObject | undefined {
  const canReject = question.actions.every((action) => offeredDecisions(action).includes("reject"));
  return canReject
    ? respondToApprovals(
        question,
        question.actions.map(() => ({ type: "reject" })),
      )
    : undefined;
}

/**
 * The schema for clients that know only JSON Schema. One call has AG-UI's form for tool calls; several need a decision
 * each.
 */
export function approvalsSchema({ actions, schema }: ToolApprovalsRequest): JsonObject {
  if (schema) return schema;
  const [only] = actions;
  if (only && actions.length === 1) return approvalSchema(only);
  const items = actions.map((action): JsonObject => {
    const offered = offeredDecisions(action);
    return {
      type: "object",
      title: action.name,
      properties: {
        type: { type: "string", enum: [...offered] },
        ...(offered.includes("edit") && { editedArgs: argsSchemaOf(action) }),
        message: { type: "string", description: "Why, where the call is rejected." },
      },
      required: ["type"],
    };
  });
  return {
    type: "object",
    properties: {
      decisions: { type: "array", prefixItems: items, minItems: items.length, maxItems: items.length },
    },
    required: ["decisions"],
  };
}

export function approvalSchema(action: ReviewedAction): JsonObject {
  return {
    type: "object",
    properties: {
      approved: { type: "boolean" },
      ...(offeredDecisions(action).includes("edit") && { editedArgs: argsSchemaOf(action) }),
      message: { type: "string", description: "Why, where the call is rejected." },
    },
    required: ["approved"],
  };
}

function argsSchemaOf({ argsSchema, name }: ReviewedAction): JsonObject {
  return argsSchema ?? { type: "object", description: `Arguments that replace those of ${name}.` };
}
