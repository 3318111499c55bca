import type { Json, JsonObject } from "@throughline/ai-core";
import {
  type Question,
  respondToAction,
  respondToAgentInbox,
  respondToApproval,
  respondToApprovals,
  respondToAskUser,
  respondToElicitation,
  respondToForm,
} from "@throughline/questions";
import type { Asked } from "./graphs/question-graphs.js";

/** A shape of question that graphs are known to ask, and how it is answered. */
export interface QuestionRow {
  readonly name: string;
  readonly asked: Asked;
  readonly kind: Question["kind"];
  /** As a program of ours answers, by the question's own builder. */
  readonly answer: (question: Question) => Json;
  readonly given: Json;
  /** As a client answers that knows the response schema only, and what the graph gets of it. */
  readonly stock?: { readonly payload: Json; readonly given: Json };
  /** What the graph could not take; absent where any answer may be right. */
  readonly wrong?: Json;
}

const DATE: JsonObject = { type: "object", properties: { day: { type: "string" } }, required: ["day"] };
const ARGS = { to: "ada", amount: 3 };
const CHANGED = { to: "ada", amount: 4 };

function row<K extends Question["kind"]>(
  name: string,
  asked: Asked,
  kind: K,
  build: (question: Extract<Question, { kind: K }>) => Json,
  rest: Pick<QuestionRow, "given" | "stock" | "wrong">,
): QuestionRow {
  const isKind = (question: Question): question is Extract<Question, { kind: K }> => question.kind === kind;
  return {
    name,
    asked,
    kind,
    answer(question) {
      if (!isKind(question)) throw new Error(`${name}: read as ${question.kind}`);
      return build(question);
    },
    ...rest,
  };
}

/** As Python's middleware asks; JavaScript's own is in the approver. */
const BATCH: JsonObject = {
  action_requests: [{ name: "pay", args: ARGS, description: "Pays." }],
  review_configs: [{ action_name: "pay", allowed_decisions: ["approve", "edit", "reject", "respond"] }],
};
const INBOX: JsonObject = {
  action_request: { action: "pay", args: ARGS },
  config: { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: false },
};
const CALL_SCHEMA: JsonObject = {
  oneOf: [
    { type: "object", properties: { type: { const: "approve" } }, required: ["type"] },
    {
      type: "object",
      properties: { type: { const: "edit" }, edited_action: { type: "object" } },
      required: ["type", "edited_action"],
    },
  ],
};

export const QUESTION_ROWS: readonly QuestionRow[] = [
  row(
    "a batch of approvals in snake case",
    { value: BATCH },
    "approvals",
    (question) => respondToApprovals(question, [{ type: "edit", args: CHANGED }]),
    {
      given: { decisions: [{ type: "edit", edited_action: { name: "pay", args: CHANGED } }] },
      stock: {
        payload: { approved: false, message: "Too much." },
        given: { decisions: [{ type: "reject", message: "Too much." }] },
      },
      wrong: { decisions: [] },
    },
  ),
  row(
    "an approval of one call",
    {
      value: { type: "tool_approval", tool_call_id: "c1", name: "pay", args: ARGS },
      schema: CALL_SCHEMA,
    },
    "approval",
    (question) => respondToApproval(question, { type: "approve" }),
    {
      given: { type: "approve" },
      stock: {
        payload: { approved: true, editedArgs: CHANGED },
        given: { type: "edit", edited_action: { name: "pay", args: CHANGED } },
      },
      wrong: { type: "reject" },
    },
  ),
  row(
    "Agent Inbox's request",
    { value: INBOX },
    "agent_inbox",
    (question) => respondToAgentInbox(question, { type: "edit", args: CHANGED }),
    {
      given: [{ type: "edit", args: { action: "pay", args: CHANGED } }],
      stock: {
        payload: { approved: true },
        given: [{ type: "accept", args: { action: "pay", args: ARGS } }],
      },
      wrong: [{ type: "ignore", args: null }],
    },
  ),
  row(
    "Agent Inbox's request in a list",
    { value: [INBOX] },
    "agent_inbox",
    (question) => respondToAgentInbox(question, { type: "response", text: "Later." }),
    { given: [{ type: "response", args: "Later." }], wrong: "Later." },
  ),
  row(
    "Agent Inbox's request as JSON text",
    { value: JSON.stringify([INBOX]) },
    "agent_inbox",
    (question) => respondToAgentInbox(question, { type: "accept" }),
    { given: [{ type: "accept", args: { action: "pay", args: ARGS } }], wrong: [] },
  ),
  row(
    "an elicitation of several requests",
    {
      value: {
        type: "mcp_elicitation",
        tool_name: "book",
        requests: [
          { key: "when", message: "When?", mode: "form", requested_schema: DATE },
          { key: "login", message: "Sign in.", mode: "url", url: "https://example.com/login" },
        ],
      },
    },
    "elicitation",
    (question) =>
      respondToElicitation(question, [
        { action: "accept", content: { day: "Monday" } },
        { action: "accept" },
      ]),
    {
      given: {
        responses: { when: { action: "accept", content: { day: "Monday" } }, login: { action: "accept" } },
      },
      stock: {
        payload: { responses: { when: { action: "decline" }, login: { action: "cancel" } } },
        given: { responses: { when: { action: "decline" }, login: { action: "cancel" } } },
      },
      wrong: { responses: { when: { action: "accept", content: { day: 1 } }, login: { action: "accept" } } },
    },
  ),
  row(
    "an elicitation of the earlier form",
    {
      value: { type: "mcp_elicitation", mode: "form", server: "s", message: "When?", response_schema: DATE },
    },
    "elicitation",
    (question) => respondToElicitation(question, [{ action: "accept", content: { day: "Monday" } }]),
    { given: { action: "accept", content: { day: "Monday" } }, wrong: { action: "perhaps" } },
  ),
  row(
    "an elicitation of the Agent Server's form",
    { value: { mode: "form", message: "When?", requestedSchema: DATE } },
    "elicitation",
    (question) => respondToElicitation(question, [{ action: "decline" }]),
    {
      given: { action: "decline" },
      stock: {
        payload: { action: "accept", content: { day: "Monday" } },
        given: { action: "accept", content: { day: "Monday" } },
      },
      wrong: { action: "accept", content: {} },
    },
  ),
  row(
    "questions to the user by position",
    {
      value: {
        type: "ask_user",
        tool_call_id: "c1",
        questions: [
          { question: "Name?", type: "text" },
          { question: "Days?", type: "multi_select", choices: [{ value: "Mon" }, { value: "Tue" }] },
        ],
      },
    },
    "ask_user",
    (question) => respondToAskUser(question, ["Ada", ["Mon", "Wed"]]),
    {
      given: { status: "answered", answers: ["Ada", '["Mon","Wed"]'] },
      stock: { payload: { answers: ["Ada", "Mon"] }, given: { status: "answered", answers: ["Ada", "Mon"] } },
      wrong: { status: "answered", answers: ["Ada"] },
    },
  ),
  row(
    "questions to the user by id",
    {
      value: {
        schema_version: 1,
        questions: [
          { id: "size", prompt: "Size?", allow_multiple: false, options: [{ id: "s", label: "Small" }] },
        ],
      },
    },
    "ask_user",
    (question) => respondToAskUser(question, ["s"]),
    { given: { answers: { size: "s" } }, wrong: "s" },
  ),
  row(
    "any value with a schema beside it",
    { value: { note: "When?" }, schema: DATE },
    "form",
    (question) => respondToForm(question, { day: "Monday" }),
    {
      given: { day: "Monday" },
      stock: { payload: { day: "Tuesday" }, given: { day: "Tuesday" } },
      wrong: { day: 1 },
    },
  ),
  row(
    "AG-UI's own question, with its schema inside",
    {
      value: {
        reason: "input_required",
        message: "When?",
        responseSchema: {
          type: "object",
          properties: { approved: { type: "boolean" } },
          required: ["approved"],
        },
      },
    },
    "form",
    (question) => respondToForm(question, { approved: true }),
    {
      given: { approved: true },
      stock: { payload: { approved: false }, given: { approved: false } },
      wrong: { approved: "yes" },
    },
  ),
  row(
    "AG-UI's own question about a call",
    {
      value: {
        reason: "tool_call",
        message: "Pay?",
        toolCallId: "c1",
        responseSchema: {
          type: "object",
          properties: { approved: { type: "boolean" }, editedArgs: { type: "object" } },
          required: ["approved"],
        },
      },
    },
    "approval",
    (question) => respondToApproval(question, { type: "edit", args: CHANGED }),
    {
      given: { approved: true, editedArgs: CHANGED },
      stock: { payload: { approved: false }, given: { approved: false } },
      wrong: { approved: "yes" },
    },
  ),
  row(
    "AG-UI's own question to confirm",
    {
      value: {
        reason: "confirmation",
        message: "Publish?",
        responseSchema: {
          type: "object",
          properties: { approved: { type: "boolean" } },
          required: ["approved"],
        },
      },
    },
    "yes_no",
    (question) => question.no,
    {
      given: { approved: false },
      stock: { payload: { approved: true }, given: { approved: true } },
      wrong: { approved: "yes" },
    },
  ),
  row(
    "a list of fields",
    {
      value: {
        formType: "refund",
        title: "Refund",
        context: "Order 7",
        fields: [{ name: "amount", label: "Amount", type: "currency", default: 3 }],
      },
    },
    "form",
    (question) => respondToForm(question, { amount: 4 }),
    {
      given: { approved: true, values: { amount: 4 } },
      stock: { payload: { approved: false }, given: { approved: false } },
      wrong: "4",
    },
  ),
  row(
    "options",
    { value: { message: "Which?", options: ["a", "b"], recommendation: "a" } },
    "options",
    (question) => question.options[1]?.value ?? null,
    { given: "b", stock: { payload: "a", given: "a" } },
  ),
  row("yes or no", { value: "All is ready. Shall I go on?" }, "yes_no", () => true, {
    given: true,
    stock: { payload: false, given: false },
  }),
  row(
    "yes or no with details",
    { value: { question: "Publish?", details: { pages: 3 } } },
    "yes_no",
    () => "only two",
    { given: "only two" },
  ),
  row(
    "a draft",
    { value: { instruction: "Improve it", content: "Helo" } },
    "draft",
    (question) => question.draft.replace("Helo", "Hello"),
    { given: "Hello", stock: { payload: "Hi", given: "Hi" } },
  ),
  row(
    "an action of a tool",
    { value: { action: "send_email", to: "ada", message: "Send it?" } },
    "action",
    (question) => respondToAction(question, "approve", { to: "bob" }),
    {
      given: { action: "approve", to: "bob" },
      stock: { payload: { approved: false }, given: { action: "reject" } },
    },
  ),
  row(
    "CopilotKit's own interrupt",
    { value: { __copilotkit_interrupt_value__: "What now?", __copilotkit_messages__: [] } },
    "copilotkit",
    () => "go on",
    { given: "go on", stock: { payload: "stop", given: "stop" } },
  ),
  row("anything else", { value: ["what", { is: "this" }] }, "other", () => ({ any: ["thing", 1] }), {
    given: { any: ["thing", 1] },
    stock: { payload: 7, given: 7 },
  }),
];
