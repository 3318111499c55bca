import type { Json, JsonObject } from "@throughline/ai-core";
import { mismatch, type ResponseProblem } from "../mismatch.js";
import { isObject, nameOf, objectAt, textAt } from "../plain.js";
import type { InterruptRequestBase, InterruptSource } from "../question-source.js";

export const INBOX_ACTIONS = ["accept", "edit", "response", "ignore"] as const;
export type InboxVerb = (typeof INBOX_ACTIONS)[number];

/** The older Agent Inbox schema, `HumanInterrupt`. */
export interface AgentInboxRequest extends InterruptRequestBase {
  readonly kind: "agent_inbox";
  readonly action: string;
  readonly args: JsonObject;
  readonly description: string | undefined;
  readonly allowed: readonly InboxVerb[];
  /** The number of requests in the list; graphs of this schema read the first response only. */
  readonly count: number;
}

export type InboxResponse =
  | { readonly type: "accept" | "ignore" }
  | { readonly type: "edit"; readonly args: JsonObject }
  | { readonly type: "response"; readonly text: string };

export function readAgentInbox({ value, schema }: InterruptSource): AgentInboxRequest | undefined {
  const read = typeof value === "string" ? parsed(value) : value;
  const list = Array.isArray(read) ? read : [read];
  const [first] = list;
  const request = objectAt(first, "action_request");
  const config = objectAt(first, "config");
  if (!request || !config) return undefined;
  const action = textAt(request, "action") ?? "";
  const description = textAt(first, "description");
  return {
    kind: "agent_inbox",
    message: `Approve ${action}?`,
    value,
    schema,
    action,
    args: objectAt(request, "args") ?? {},
    description,
    allowed: INBOX_ACTIONS.filter((verb) => config[PERMISSION_KEYS[verb]] === true),
    count: list.length,
  };
}

const PERMISSION_KEYS = {
  accept: "allow_accept",
  edit: "allow_edit",
  response: "allow_respond",
  ignore: "allow_ignore",
} as const satisfies Record<InboxVerb, string>;

/** Parses an interrupt that was sent as JSON text, which some graphs of this schema do. */
function parsed(text: string): Json | undefined {
  if (!text.includes("action_request")) return undefined;
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** Encodes the response, always as a list of one. Values retain their types. */
export function respondToAgentInbox({ action, args }: AgentInboxRequest, answer: InboxResponse): Json {
  switch (answer.type) {
    case "accept":
      return [{ type: "accept", args: { action, args } }];
    case "edit":
      return [{ type: "edit", args: { action, args: answer.args } }];
    case "response":
      return [{ type: "response", args: answer.text }];
    case "ignore":
      return [{ type: "ignore", args: null }];
  }
}

/** Accepts the list, its one element alone, and AG-UI's `{ approved, editedArgs?, message? }`. */
export function adaptAgentInbox(interrupt: AgentInboxRequest, answer: Json): Json {
  if (!isObject(answer)) return answer;
  if (typeof answer.type === "string") return [answer];
  if (typeof answer.approved !== "boolean") return answer;
  const text = textAt(answer, "message", "reason");
  if (!answer.approved) {
    const hasText = text !== undefined && interrupt.allowed.includes("response");
    return respondToAgentInbox(interrupt, hasText ? { type: "response", text } : { type: "ignore" });
  }
  const { editedArgs } = answer;
  return respondToAgentInbox(
    interrupt,
    isObject(editedArgs) ? { type: "edit", args: editedArgs } : { type: "accept" },
  );
}

export function checkAgentInbox({ allowed, count }: AgentInboxRequest, answer: Json): ResponseProblem | null {
  if (!Array.isArray(answer)) return mismatch(`Expected a list of one answer, got ${nameOf(answer)}.`);
  if (answer.length === 0 || answer.length > count)
    return mismatch(`Expected a list of one answer, got ${answer.length}.`);
  for (const [index, one] of answer.entries()) {
    const type = isObject(one) ? one.type : undefined;
    if (!isObject(one) || typeof type !== "string") return mismatch("An answer needs a type.", index, "type");
    if (!allowed.some((verb) => verb === type)) {
      return mismatch(`${type} is not allowed here. Allowed: ${allowed.join(", ")}.`, index, "type");
    }
    const problem = checkArgs(type, one.args ?? null);
    if (problem) return mismatch(problem, index, "args");
  }
  return null;
}

function checkArgs(type: string, args: Json): string | undefined {
  switch (type) {
    case "response":
      return typeof args === "string" ? undefined : "A response needs a text.";
    case "edit":
      return objectAt(args, "args") ? undefined : "An edit needs the action and its args.";
    default:
      return undefined;
  }
}

export function dismissAgentInbox(interrupt: AgentInboxRequest): Json | undefined {
  return interrupt.allowed.includes("ignore")
    ? respondToAgentInbox(interrupt, { type: "ignore" })
    : undefined;
}

export function agentInboxSchema({ allowed }: AgentInboxRequest): JsonObject {
  return {
    type: "object",
    properties: {
      approved: { type: "boolean" },
      ...(allowed.includes("edit") && { editedArgs: { type: "object" } }),
      ...(allowed.includes("response") && {
        message: { type: "string", description: "An answer in words, where the action is not approved." },
      }),
    },
    required: ["approved"],
  };
}
