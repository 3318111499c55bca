import type { OpenInterrupt } from "@throughline/agent-react";
import type { Json, JsonObject } from "@throughline/ai-core";
import {
  type AgentInboxRequest,
  type ApprovalRequest,
  type Decision,
  offeredDecisions,
  type Question,
  reasonField,
  respondToAgentInbox,
  respondToApproval,
  respondToApprovals,
  type ToolApprovalsRequest,
} from "@throughline/questions";
import { fieldsOf, type SchemaField, schemaOfValues } from "../json-schema/schema-fields";
import { readValues, type ValuesDraft } from "../json-schema/value-edits";

export type Approvable = ToolApprovalsRequest | ApprovalRequest | AgentInboxRequest;

/** A call that waits for a decision. */
export interface ApprovalRow {
  readonly name: string;
  readonly args: JsonObject;
  readonly description: string | undefined;
  /** In the order they are offered: `approve`, `edit`, `reject`, `ignore`, `respond`, then verbs of the graph. */
  readonly verbs: readonly string[];
  /** Whether a rejection carries a reason to the agent. */
  readonly takesReason: boolean;
  /** Form fields for an edit: from the schema of the arguments, else from their values. */
  readonly fields: readonly SchemaField[];
}

/** An unfinished decision as it is stored, with an edit of the arguments. */
export interface RowDraft extends ValuesDraft {
  readonly verb?: string | undefined;
  /** The reason of a rejection, or the text that replaces the result of the call. */
  readonly words?: string | undefined;
}

export type RowReading =
  | { readonly decision: Decision }
  | { readonly problem: string; readonly problems?: Readonly<Record<string, string>> };

const KNOWN_VERBS = ["approve", "edit", "reject", "ignore", "respond"];
const INBOX_VERBS = { accept: "approve", edit: "edit", ignore: "ignore", response: "respond" } as const;

export function isApprovable(question: Question): question is Approvable {
  return question.kind === "approvals" || question.kind === "approval" || question.kind === "agent_inbox";
}

export function rowsOf(question: Approvable): readonly ApprovalRow[] {
  if (question.kind === "agent_inbox") {
    const { action, args, description, allowed } = question;
    const verbs = ordered(allowed.map((verb) => INBOX_VERBS[verb]));
    const fields = fieldsOf(schemaOfValues(args));
    return [{ name: action, args, description, verbs, takesReason: false, fields }];
  }
  const takesReason = question.kind === "approvals" || reasonField(question) !== undefined;
  const actions = question.kind === "approvals" ? question.actions : [question.action];
  return actions.map((action) => ({
    name: action.name,
    args: action.args,
    // The stock text only repeats name and arguments.
    description: action.description?.includes(`Tool: ${action.name}\n`) ? undefined : action.description,
    verbs: ordered(offeredDecisions(action)),
    takesReason,
    fields: fieldsOf(action.argsSchema ?? schemaOfValues(action.args)),
  }));
}

function ordered(verbs: readonly string[]): readonly string[] {
  return [
    ...KNOWN_VERBS.filter((verb) => verbs.includes(verb)),
    ...verbs.filter((verb) => !KNOWN_VERBS.includes(verb)),
  ];
}

/** The decision of a draft. `undefined`: none yet. */
export function readRow(row: ApprovalRow, draft: RowDraft): RowReading | undefined {
  const words = draft.words?.trim() ?? "";
  switch (draft.verb) {
    case undefined:
      return undefined;
    case "approve":
      return { decision: { type: "approve" } };
    case "reject":
      return { decision: { type: "reject", ...(words !== "" && { message: words }) } };
    case "respond":
      return words === ""
        ? { problem: "Write what the agent is told." }
        : { decision: { type: "respond", message: words } };
    case "edit": {
      const read = readValues(row.args, row.fields, draft);
      return "values" in read ? { decision: { type: "edit", args: read.values } } : read;
    }
    default:
      return { decision: { type: "other", decision: { type: draft.verb } } };
  }
}

/** Whether a rejection cancels every call: JavaScript's middleware drops the whole turn with one rejected call. */
export function stopsAll(question: Approvable, drafts: readonly RowDraft[]): boolean {
  return (
    question.kind === "approvals" &&
    question.spelling === "camel" &&
    question.actions.length > 1 &&
    drafts.some(({ verb }) => verb === "reject")
  );
}

/** The response that approves every call; `undefined` where a policy does not allow that. */
export function approveAll(question: Approvable): Json | undefined {
  const rows = rowsOf(question);
  if (!rows.every(({ verbs }) => verbs.includes("approve"))) return undefined;
  return toResponse(
    question,
    rows.map(() => ({ type: "approve" })),
  );
}

export function toResponse(question: Approvable, decisions: readonly Decision[]): Json {
  if (question.kind === "approvals") return respondToApprovals(question, decisions);
  const [decision = { type: "approve" as const }] = decisions;
  if (question.kind === "approval") return respondToApproval(question, decision);
  switch (decision.type) {
    case "edit":
      return respondToAgentInbox(question, { type: "edit", args: decision.args });
    case "respond":
      return respondToAgentInbox(question, { type: "response", text: decision.message });
    case "other":
      return respondToAgentInbox(question, { type: "ignore" });
    default:
      return respondToAgentInbox(question, { type: "accept" });
  }
}

/** Responses that approve every call of every interrupt; `undefined` where one of them requests something else. */
export function approvalsOf(questions: readonly OpenInterrupt[]): Readonly<Record<string, Json>> | undefined {
  const answers: Record<string, Json> = {};
  for (const { id, question } of questions) {
    const answer = isApprovable(question) ? approveAll(question) : undefined;
    if (answer === undefined) return undefined;
    answers[id] = answer;
  }
  return answers;
}
