import type { Json, JsonObject } from "@throughline/ai-core";
import {
  type AgentInboxQuestion,
  type ApprovalQuestion,
  type ApprovalsQuestion,
  answerAgentInbox,
  answerApproval,
  answerApprovals,
  type Decision,
  offeredDecisions,
  type Question,
  reasonField,
} from "@throughline/questions";
import { isJsonObject } from "../design/is-json-object";
import { type Drafts, draftsOf, fieldsOf, readDrafts, type SchemaField } from "./schema-fields";
import { schemaOfValues } from "./schema-of-values";

export type Approvable = ApprovalsQuestion | ApprovalQuestion | AgentInboxQuestion;

/** A call that waits for a decision. */
export interface ApprovalRow {
  readonly name: string;
  readonly args: JsonObject;
  readonly description: string | undefined;
  /** In the order they are offered: `approve`, `edit`, `reject`, `ignore`, `respond`, and what only the graph knows. */
  readonly verbs: readonly string[];
  /** Whether the agent is told why a call is rejected. */
  readonly takesReason: boolean;
  /** A form for an edit: by the schema of the arguments, else by what they are now. */
  readonly fields: readonly SchemaField[];
}

/** A decision half made, as it is kept. */
export interface RowDraft {
  readonly verb?: string | undefined;
  readonly fields?: Drafts | undefined;
  /** The arguments as text, where they are edited as text. */
  readonly json?: string | undefined;
  /** Why it is rejected, or what is said in place of the call. */
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
    // The stock text says name and arguments once more.
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

export function editDrafts({ fields, args }: ApprovalRow, draft: RowDraft): Drafts {
  return draft.fields ?? draftsOf(fields, args);
}

/** `undefined`: nothing was decided yet. */
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
    case "edit":
      return draft.json === undefined ? readFields(row, draft) : readJson(draft.json);
    default:
      return { decision: { type: "other", decision: { type: draft.verb } } };
  }
}

export const NOT_AN_OBJECT = "This is not a JSON object.";

function readJson(text: string): RowReading {
  const problem = NOT_AN_OBJECT;
  try {
    const args: Json = JSON.parse(text);
    return isJsonObject(args) ? { decision: { type: "edit", args } } : { problem };
  } catch {
    return { problem };
  }
}

function readFields(row: ApprovalRow, draft: RowDraft): RowReading {
  const read = readDrafts(row.fields, editDrafts(row, draft));
  if (read.problems) return { problem: "Some arguments can't be sent as they are.", problems: read.problems };
  const edited = isJsonObject(read.value) ? read.value : {};
  // A field that was emptied is an empty text where it was a text, and not a missing argument.
  const emptied = Object.entries(row.args).flatMap(([name, value]) =>
    typeof value === "string" && edited[name] === undefined ? [[name, ""] as const] : [],
  );
  return { decision: { type: "edit", args: { ...edited, ...Object.fromEntries(emptied) } } };
}

export interface ArgChange {
  readonly name: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** What an edit changes, by argument. */
export function changedArgs(before: JsonObject, after: JsonObject): readonly ArgChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .map((name) => ({ name, before: before[name], after: after[name] }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after));
}

/** JavaScript's middleware drops the whole turn with one rejected call. */
export function stopsAll(question: Approvable, drafts: readonly RowDraft[]): boolean {
  return (
    question.kind === "approvals" &&
    question.spelling === "camel" &&
    question.actions.length > 1 &&
    drafts.some(({ verb }) => verb === "reject")
  );
}

/** The answer that approves every call; `undefined` where a policy does not allow that. */
export function approveAll(question: Approvable): Json | undefined {
  const rows = rowsOf(question);
  if (!rows.every(({ verbs }) => verbs.includes("approve"))) return undefined;
  return toAnswer(
    question,
    rows.map(() => ({ type: "approve" })),
  );
}

export function toAnswer(question: Approvable, decisions: readonly Decision[]): Json {
  if (question.kind === "approvals") return answerApprovals(question, decisions);
  const [decision = { type: "approve" as const }] = decisions;
  if (question.kind === "approval") return answerApproval(question, decision);
  switch (decision.type) {
    case "edit":
      return answerAgentInbox(question, { type: "edit", args: decision.args });
    case "respond":
      return answerAgentInbox(question, { type: "response", text: decision.message });
    case "other":
      return answerAgentInbox(question, { type: "ignore" });
    default:
      return answerAgentInbox(question, { type: "accept" });
  }
}
