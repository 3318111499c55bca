import type { Json, JsonObject } from "@throughline/ai-core";
import { isObject, listAt, textAt } from "./plain.js";
import type { Question } from "./question.js";

const LONGEST = 80;
const PAST: Readonly<Record<string, string>> = {
  approve: "approved",
  accept: "approved",
  edit: "edited",
  reject: "rejected",
  ignore: "ignored",
  respond: "answered for",
  response: "answered for",
};

/** Describes a response, for display after a person's name: "chose KLM", "approved pay, rejected refund". Truncated if long. */
export function describeResponse(interrupt: Question, answer: Json): string {
  const text = describe(interrupt, answer);
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

function describe(interrupt: Question, answer: Json): string {
  switch (interrupt.kind) {
    case "approvals": {
      const decisions = listAt(answer, "decisions") ?? [];
      return interrupt.actions.map(({ name }, at) => `${pastOf(decisions[at])} ${name}`).join(", ");
    }
    case "approval":
      return `${pastOf(answer)} ${interrupt.action.name || "the call"}`;
    case "agent_inbox":
      return `${pastOf(Array.isArray(answer) ? answer[0] : answer)} ${interrupt.action}`;
    case "action":
      return `${pastOf(isObject(answer) ? { type: answer.action ?? null } : answer)} ${interrupt.action}`;
    case "elicitation":
      return describeElicitation(answer);
    case "ask_user": {
      if (textAt(answer, "status") === "cancelled") return "cancelled";
      return answered(isObject(answer) ? answer.answers : answer);
    }
    case "form":
      if (interrupt.form === "schema") return answered(answer);
      if (!isObject(answer)) return "answered";
      return answer.approved === false ? "rejected" : withValue("approved", answer.values);
    case "options": {
      const wanted = JSON.stringify(answer);
      const chosen = interrupt.options.find(({ value }) => JSON.stringify(value) === wanted);
      return chosen ? `chose ${chosen.label}` : answered(answer);
    }
    case "yes_no":
      if (JSON.stringify(answer) === JSON.stringify(interrupt.yes)) return "said yes";
      if (JSON.stringify(answer) === JSON.stringify(interrupt.no)) return "said no";
      return answered(answer);
    case "breakpoint":
      return "let it go on";
    case "draft":
    case "copilotkit":
    case "other":
      return answered(answer);
  }
}

function pastOf(decision: Json | undefined): string {
  if (isObject(decision) && typeof decision.approved === "boolean") {
    if (!decision.approved) return "rejected";
    return decision.editedArgs === undefined ? "approved" : "edited";
  }
  return PAST[textAt(decision, "type") ?? ""] ?? "decided on";
}

function describeElicitation(answer: Json): string {
  const responses =
    isObject(answer) && isObject(answer.responses) ? Object.values(answer.responses) : [answer];
  const texts = responses.map((one) => {
    const action = textAt(one, "action");
    if (action === "decline") return "declined";
    if (action === "cancel") return "cancelled";
    return withValue("accepted", isObject(one) ? one.content : undefined);
  });
  return [...new Set(texts)].join(", ");
}

function answered(answer: Json | undefined): string {
  return withValue("answered", answer);
}

function withValue(verb: string, value: Json | undefined): string {
  const text = plainText(value);
  return text === "" ? verb : `${verb} ${text}`;
}

/** Renders a text in quotation marks, and the plain items of a list or an object; nothing for other values. */
function plainText(value: Json | undefined): string {
  if (typeof value === "string") return value.trim() === "" ? "" : `“${value.trim()}”`;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.map(plainText).filter(Boolean).join(", ");
  return isObject(value) ? fieldsText(value) : "";
}

function fieldsText(fields: JsonObject): string {
  return Object.entries(fields)
    .flatMap(([name, value]) => (typeof value === "object" ? [] : [`${name}: ${String(value)}`]))
    .join(", ");
}
