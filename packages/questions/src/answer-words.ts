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

/** What was decided, to stand behind a name: "chose KLM", "approved pay, rejected tell". Cut where it is long. */
export function answerWords(question: Question, answer: Json): string {
  const words = wordsOf(question, answer);
  return words.length > LONGEST ? `${words.slice(0, LONGEST - 1)}…` : words;
}

function wordsOf(question: Question, answer: Json): string {
  switch (question.kind) {
    case "approvals": {
      const decisions = listAt(answer, "decisions") ?? [];
      return question.actions.map(({ name }, at) => `${pastOf(decisions[at])} ${name}`).join(", ");
    }
    case "approval":
      return `${pastOf(answer)} ${question.action.name || "the call"}`;
    case "agent_inbox":
      return `${pastOf(Array.isArray(answer) ? answer[0] : answer)} ${question.action}`;
    case "action":
      return `${pastOf(isObject(answer) ? { type: answer.action ?? null } : answer)} ${question.action}`;
    case "elicitation":
      return elicitationWords(answer);
    case "ask_user": {
      if (textAt(answer, "status") === "cancelled") return "cancelled";
      return answered(isObject(answer) ? answer.answers : answer);
    }
    case "form":
      if (question.form === "schema") return answered(answer);
      if (!isObject(answer)) return "answered";
      return answer.approved === false ? "rejected" : said("approved", answer.values);
    case "options": {
      const wanted = JSON.stringify(answer);
      const chosen = question.options.find(({ value }) => JSON.stringify(value) === wanted);
      return chosen ? `chose ${chosen.label}` : answered(answer);
    }
    case "yes_no":
      if (JSON.stringify(answer) === JSON.stringify(question.yes)) return "said yes";
      if (JSON.stringify(answer) === JSON.stringify(question.no)) return "said no";
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

function elicitationWords(answer: Json): string {
  const responses =
    isObject(answer) && isObject(answer.responses) ? Object.values(answer.responses) : [answer];
  const words = responses.map((one) => {
    const action = textAt(one, "action");
    if (action === "decline") return "declined";
    if (action === "cancel") return "cancelled";
    return said("accepted", isObject(one) ? one.content : undefined);
  });
  return [...new Set(words)].join(", ");
}

function answered(answer: Json | undefined): string {
  return said("answered", answer);
}

function said(verb: string, value: Json | undefined): string {
  const words = plainWords(value);
  return words === "" ? verb : `${verb} ${words}`;
}

/** A text in quotation marks, and what is in a list or an object where that is plain; else nothing. */
function plainWords(value: Json | undefined): string {
  if (typeof value === "string") return value.trim() === "" ? "" : `“${value.trim()}”`;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.map(plainWords).filter(Boolean).join(", ");
  return isObject(value) ? fieldWords(value) : "";
}

function fieldWords(fields: JsonObject): string {
  return Object.entries(fields)
    .flatMap(([name, value]) => (typeof value === "object" ? [] : [`${name}: ${String(value)}`]))
    .join(", ");
}
