import type { Json, JsonObject } from "@throughline/ai-core";

export interface AskedRow {
  /** What the graph passes to `interrupt()`. */
  readonly value: Json;
  /** What stands beside it. */
  readonly schema?: JsonObject;
  /** The call that the question is about, where the conversation shows it. */
  readonly call?: { readonly id: string; readonly name: string; readonly args: JsonObject };
}

const ARGS = { to: "ada", amount: 3 };
const CALL = { id: "call-1", name: "pay", args: ARGS };
const DAY: JsonObject = { type: "object", properties: { day: { type: "string" } }, required: ["day"] };
const AMOUNT: JsonObject = { type: "number", maximum: 100 };
const INBOX: JsonObject = {
  action_request: { action: "pay", args: ARGS },
  config: { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: true },
  description: "Pays ada.",
};

/** Every shape of question, as it comes from LangGraph, LangChain in both languages, MCP, CopilotKit and AG-UI. */
export const ASKED_ROWS = {
  "batch-python": {
    value: {
      action_requests: [
        { name: "pay", args: ARGS, description: "Pays." },
        { name: "tell", args: { whom: "bob" }, description: "Tells." },
      ],
      review_configs: [
        { action_name: "pay", allowed_decisions: ["approve", "edit", "reject", "respond"] },
        { action_name: "tell", allowed_decisions: ["approve", "reject"] },
      ],
    },
  },
  "tool-approval": {
    value: { type: "tool_approval", tool_call_id: CALL.id, name: "pay", args: ARGS },
    schema: {
      oneOf: [
        { type: "object", properties: { type: { const: "approve" } }, required: ["type"] },
        {
          type: "object",
          properties: {
            type: { const: "edit" },
            edited_action: {
              type: "object",
              properties: {
                name: { const: "pay" },
                args: { type: "object", properties: { to: { type: "string" }, amount: AMOUNT } },
              },
            },
          },
          required: ["type", "edited_action"],
        },
      ],
    },
    call: CALL,
  },
  "inbox-request": { value: INBOX },
  "inbox-list": { value: [INBOX] },
  "inbox-text": { value: JSON.stringify([INBOX]) },
  "elicitation-several": {
    value: {
      type: "mcp_elicitation",
      tool_name: "book",
      requests: [
        { key: "when", message: "When do you travel?", mode: "form", requested_schema: DAY },
        { key: "login", message: "Sign in.", mode: "url", url: "https://example.com/login?flow=7" },
      ],
    },
  },
  "elicitation-earlier": {
    value: { type: "mcp_elicitation", mode: "form", server: "rail", message: "When?", response_schema: DAY },
  },
  "elicitation-earlier-url": {
    value: {
      type: "mcp_elicitation",
      mode: "url",
      server: "rail",
      message: "Sign in.",
      url: "https://example.com/x",
    },
  },
  "elicitation-server": { value: { mode: "form", message: "When?", requestedSchema: DAY } },
  "elicitation-server-url": { value: { mode: "url", message: "Sign in.", url: "https://example.com/x" } },
  "ask-user": {
    value: {
      type: "ask_user",
      tool_call_id: "c1",
      questions: [
        { question: "Your name?", type: "text" },
        {
          question: "Which class?",
          type: "multiple_choice",
          choices: [{ value: "First" }, { value: "Second" }],
        },
        { question: "Which days?", type: "multi_select", choices: [{ value: "Mon" }, { value: "Tue" }] },
        { question: "Anything else?", type: "text", required: false },
      ],
    },
  },
  "ask-by-id": {
    value: {
      schema_version: "1.1",
      questions: [
        {
          id: "range",
          prompt: "Which range?",
          allow_multiple: false,
          options: [
            { id: "7d", label: "Last 7 days" },
            { id: "custom", label: "Custom", requires_free_text: true },
          ],
        },
      ],
    },
  },
  "schema-beside": {
    value: { message: "Who comes along?" },
    schema: {
      type: "object",
      properties: {
        people: { type: "integer", minimum: 1, maximum: 9 },
        meal: { anyOf: [{ enum: ["vegan", "fish"] }, { type: "null" }] },
        names: { type: "array", items: { type: "string" } },
        quiet: { type: "boolean", default: true },
      },
      required: ["people"],
    },
  },
  "ag-ui-tool-call": {
    value: {
      reason: "tool_call",
      message: "Pay ada?",
      toolCallId: CALL.id,
      responseSchema: {
        type: "object",
        properties: {
          approved: { type: "boolean" },
          editedArgs: { type: "object", properties: { to: { type: "string" }, amount: AMOUNT } },
        },
        required: ["approved"],
      },
    },
    call: CALL,
  },
  "ag-ui-input": { value: { reason: "input_required", message: "When?", responseSchema: DAY } },
  "ag-ui-confirmation": {
    value: {
      reason: "confirmation",
      message: "Publish it?",
      responseSchema: {
        type: "object",
        properties: { approved: { type: "boolean" } },
        required: ["approved"],
      },
    },
  },
  "fields-form": {
    value: {
      formType: "refund",
      title: "Refund request",
      context: "Order 7 came too late.",
      fields: [
        { name: "amount", label: "Amount", type: "currency", default: 3 },
        {
          name: "why",
          label: "Why",
          type: "select",
          options: [
            { value: "late", label: "It came late" },
            { value: "broken", label: "It is broken" },
          ],
        },
        { name: "isTold", label: "Tell the customer", type: "checkbox" },
        { name: "note", label: "Note", type: "textarea" },
      ],
    },
  },
  options: { value: { message: "Where to?", options: ["Oslo", "Rome"], recommendation: "Rome" } },
  "yes-no-details": { value: { question: "Publish it?", details: { pages: 3, where: "the blog" } } },
  "yes-no-text": { value: "All is ready. Shall I go on?" },
  draft: { value: { instruction: "Improve this line", content: "Helo world" } },
  "tool-action": { value: { action: "send_email", to: "ada", copies: 1, message: "Send it?" } },
  copilotkit: { value: { __copilotkit_interrupt_value__: "What **now**?", __copilotkit_messages__: [] } },
  "any-list": { value: ["what", { is: "this" }] },
  "any-number": { value: 42 },
  "any-text": { value: "Tell me **more**." },
} as const satisfies Readonly<Record<string, AskedRow>>;
