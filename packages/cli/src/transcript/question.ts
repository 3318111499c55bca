import type { WireInterrupt } from "@throughline/agent-client";
import type { Json } from "@throughline/ai-core";
import {
  type Question as Asked,
  adaptAnswer,
  answerAgentInbox,
  answerApproval,
  answerApprovals,
  checkAnswer,
  type Decision,
  NO_WORDS,
  offeredDecisions,
  readQuestion,
} from "@throughline/questions";
import { z } from "zod";
import type { Span } from "./span.js";

/** An interrupt as a person is asked it. */
export interface Question {
  readonly interruptId: string;
  readonly asked: Asked;
}

const metadataSchema = z.object({
  langgraph: z.object({
    raw: z.json().optional(),
    responseSchema: z.record(z.string(), z.json()).optional(),
  }),
});

export function toQuestion({ id, metadata }: Pick<WireInterrupt, "id" | "metadata">): Question {
  const { raw = null, responseSchema } = metadataSchema.safeParse(metadata).data?.langgraph ?? {};
  return { interruptId: id, asked: readQuestion(raw, responseSchema) };
}

export type Answer = { readonly value: Json } | { readonly problem: string };

/**
 * A number picks an option, an empty line takes the recommendation, `yes`, `no`, `approve` and `reject` answer what asks for
 * them, JSON is that value, anything else is its text. What the graph can't take is a problem.
 */
export function readAnswer({ asked }: Question, line: string): Answer {
  const text = line.trim();
  if (text === "") {
    const preset = presetOf(asked);
    return preset === undefined ? { problem: "Type an answer." } : { value: preset };
  }
  if (asked.kind === "options" && /^\d+$/.test(text)) {
    const option = asked.options[Number(text) - 1];
    return option
      ? { value: option.value }
      : { problem: `Choose a number from 1 to ${asked.options.length}.` };
  }
  const spoken = spokenAnswer(asked, text);
  const candidates = spoken === undefined ? [parsed(text), text] : [spoken];
  let problem = "";
  for (const candidate of candidates) {
    if (candidate === undefined) continue;
    const value = adaptAnswer(asked, candidate);
    const mismatch = checkAnswer(asked, value);
    if (!mismatch) return { value };
    problem ||= mismatch.path === "" ? mismatch.problem : `${mismatch.path}: ${mismatch.problem}`;
  }
  return { problem };
}

function presetOf(asked: Asked): Json | undefined {
  if (asked.kind === "options") return asked.options.find(({ isRecommended }) => isRecommended)?.value;
  return asked.kind === "draft" ? asked.draft : undefined;
}

/** `approve`, `reject` with or without a reason, and one of them for each call with commas between. */
function spokenAnswer(asked: Asked, text: string): Json | undefined {
  switch (asked.kind) {
    case "yes_no":
      return /^y(es)?$/i.test(text) ? true : /^no?$/i.test(text) ? false : undefined;
    case "approvals": {
      const [first, ...more] = (/^[ar]\w*\s*,/i.test(text) ? text.split(",") : [text]).map(spokenDecision);
      if (!first) return undefined;
      const decisions = more.length === 0 ? asked.actions.map(() => first) : [first, ...more];
      const isWhole = decisions.length === asked.actions.length;
      const known = decisions.filter((decision) => decision !== undefined);
      return isWhole && known.length === decisions.length ? answerApprovals(asked, known) : undefined;
    }
    case "approval": {
      const decision = spokenDecision(text);
      return decision && answerApproval(asked, decision);
    }
    case "agent_inbox": {
      const decision = spokenDecision(text);
      if (decision?.type === "approve") return answerAgentInbox(asked, { type: "accept" });
      if (decision) return answerAgentInbox(asked, { type: "ignore" });
      return parsed(text) === undefined && asked.allowed.includes("response")
        ? answerAgentInbox(asked, { type: "response", text })
        : undefined;
    }
    default:
      return undefined;
  }
}

function spokenDecision(text: string): Decision | undefined {
  if (/^\s*(a|approve|y|yes)\s*$/i.test(text)) return { type: "approve" };
  const rejected = /^\s*(?:r|reject|n|no)\b[\s:]*(.*)$/is.exec(text);
  if (!rejected) return undefined;
  const message = rejected[1]?.trim();
  return message ? { type: "reject", message } : { type: "reject" };
}

function parsed(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** Without the end of its last line. */
export function showQuestion({ asked }: Question): readonly Span[] {
  const isUnworded = asked.message === NO_WORDS && asked.kind === "other" && asked.value !== null;
  const message = isUnworded ? JSON.stringify(asked.value, undefined, 2) : asked.message;
  return [{ tone: "strong", text: `? ${message}` }, ...detailsOf(asked)];
}

function detailsOf(asked: Asked): readonly Span[] {
  switch (asked.kind) {
    case "options":
      return asked.options.flatMap((option, index): Span[] => [
        { tone: "plain", text: `\n  ${index + 1}. ${describeOption(option.value)}` },
        ...(option.isRecommended ? [{ tone: "mark", text: " (recommended)" } as const] : []),
      ]);
    case "approvals":
      return asked.actions.map((action, index) => {
        const offered = offeredDecisions(action).join(", ");
        return plain(`${index + 1}. ${action.name} ${JSON.stringify(action.args)} (${offered})`);
      });
    case "approval":
      return [plain(`${JSON.stringify(asked.action.args)} (${offeredDecisions(asked.action).join(", ")})`)];
    case "agent_inbox":
      return [plain(`${JSON.stringify(asked.args)} (${asked.allowed.join(", ")})`)];
    case "ask_user":
      return asked.prompts.map(({ prompt, choices }, index) => {
        const values = choices.map(({ value }) => value).join(", ");
        return plain(`${index + 1}. ${prompt}${values === "" ? "" : ` (${values})`}`);
      });
    case "elicitation":
      return asked.requests.map(({ key, message, url }) => plain(`${key} ${message} ${url ?? ""}`.trim()));
    case "form":
      return [plain(JSON.stringify(asked.fields.properties ?? asked.fields))];
    case "draft":
      return [plain(asked.draft)];
    case "action":
      return [plain(JSON.stringify(asked.fields))];
    default:
      return [];
  }
}

function plain(text: string): Span {
  return { tone: "plain", text: `\n  ${text}` };
}

/** `KLM, 11:10 am, …`: the values alone, because the names repeat on every line. */
function describeOption(option: Json): string {
  if (typeof option !== "object" || option === null) return String(option);
  const values = Object.values(option);
  const isPlain = values.every((value) => typeof value !== "object" || value === null);
  return isPlain ? values.map(String).join(", ") : JSON.stringify(option);
}
