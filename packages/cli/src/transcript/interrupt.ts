import type { WireInterrupt } from "@throughline/agent-client";
import type { Json } from "@throughline/ai-core";
import {
  type Question as Asked,
  adaptResponse,
  DEFAULT_MESSAGE,
  type Decision,
  offeredDecisions,
  readInterruptRequest,
  respondToAgentInbox,
  respondToApproval,
  respondToApprovals,
  validateResponse,
} from "@throughline/questions";
import { z } from "zod";
import type { Span } from "../terminal/terminal.js";

/** An interrupt as a person reads it on the terminal. */
export interface TerminalInterrupt {
  readonly interruptId: string;
  readonly asked: Asked;
}

const metadataSchema = z.object({
  langgraph: z.object({
    raw: z.json().optional(),
    responseSchema: z.record(z.string(), z.json()).optional(),
  }),
});

const argsSchema = z.record(z.string(), z.json());

export function toTerminalInterrupt({
  id,
  metadata,
}: Pick<WireInterrupt, "id" | "metadata">): TerminalInterrupt {
  const { raw = null, responseSchema } = metadataSchema.safeParse(metadata).data?.langgraph ?? {};
  return { interruptId: id, asked: readInterruptRequest(raw, responseSchema) };
}

export type Answer = { readonly value: Json } | { readonly problem: string };

/**
 * Parses a line as an answer: a number picks an option, an empty line takes the recommendation, words such as `yes` and
 * `approve` answer interrupts that offer them, JSON is that value, anything else is its text. A value that the graph can't
 * accept is a problem.
 */
export function readAnswer({ asked }: TerminalInterrupt, line: string): Answer {
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
  const shorthand = shorthandAnswer(asked, text);
  const written = parsed(text);
  const how = howToDecide(asked);
  if (shorthand === undefined && how && (typeof written !== "object" || written === null))
    return { problem: how };
  const candidates = shorthand === undefined ? [written, text] : [shorthand];
  let problem = "";
  for (const candidate of candidates) {
    if (candidate === undefined) continue;
    const value = adaptResponse(asked, candidate);
    const mismatch = validateResponse(asked, value);
    if (!mismatch) return { value };
    problem ||= mismatch.path === "" ? mismatch.problem : `${mismatch.path}: ${mismatch.problem}`;
  }
  return { problem };
}

function presetOf(asked: Asked): Json | undefined {
  if (asked.kind === "options") return asked.options.find(({ isRecommended }) => isRecommended)?.value;
  return asked.kind === "draft" ? asked.draft : undefined;
}

/** The inputs that decide about tool calls, by decision. */
const DECIDING: Readonly<Record<string, string>> = {
  approve: "approve",
  edit: "edit and the arguments as JSON",
  reject: "reject (a reason may follow)",
  respond: "respond and a text",
};

/** The hint for interrupts that only decisions answer. */
function howToDecide(asked: Asked): string | undefined {
  if (asked.kind !== "approvals" && asked.kind !== "approval") return undefined;
  const actions = asked.kind === "approvals" ? asked.actions : [asked.action];
  const offered = new Set(actions.flatMap(offeredDecisions));
  const ways = [...offered].flatMap((decision) => DECIDING[decision] ?? []);
  const each = actions.length > 1 ? " One answer is for all calls; approve, reject is one for each." : "";
  return `Type ${[...ways, "the decision as JSON"].join(", or ")}.${each}`;
}

/** Parses a decision word, or `approve` and `reject` for each call with commas between. */
function shorthandAnswer(asked: Asked, text: string): Json | undefined {
  switch (asked.kind) {
    case "yes_no":
      return /^y(es)?$/i.test(text) ? true : /^no?$/i.test(text) ? false : undefined;
    case "approvals": {
      const [first, ...more] = (/^[ar]\w*\s*,/i.test(text) ? text.split(",") : [text]).map(shorthandDecision);
      if (!first) return undefined;
      const decisions = more.length === 0 ? asked.actions.map(() => first) : [first, ...more];
      const isWhole = decisions.length === asked.actions.length;
      const known = decisions.filter((decision) => decision !== undefined);
      return isWhole && known.length === decisions.length ? respondToApprovals(asked, known) : undefined;
    }
    case "approval": {
      const decision = shorthandDecision(text);
      return decision && respondToApproval(asked, decision);
    }
    case "agent_inbox": {
      const decision = shorthandDecision(text);
      if (decision?.type === "approve") return respondToAgentInbox(asked, { type: "accept" });
      if (decision?.type === "reject") return respondToAgentInbox(asked, { type: "ignore" });
      return parsed(text) === undefined && asked.allowed.includes("response")
        ? respondToAgentInbox(asked, { type: "response", text })
        : undefined;
    }
    default:
      return undefined;
  }
}

function shorthandDecision(text: string): Decision | undefined {
  if (/^\s*(a|approve|y|yes)\s*$/i.test(text)) return { type: "approve" };
  const [, verb, more] = /^\s*(r|reject|n|no|e|edit|respond)\b[\s:]*(.*)$/is.exec(text) ?? [];
  const rest = more?.trim() ?? "";
  switch (verb?.toLowerCase()) {
    case undefined:
      return undefined;
    case "respond":
      return rest === "" ? undefined : { type: "respond", message: rest };
    case "e":
    case "edit": {
      const args = argsSchema.safeParse(parsed(rest)).data;
      return args && { type: "edit", args };
    }
    default:
      return rest === "" ? { type: "reject" } : { type: "reject", message: rest };
  }
}

function parsed(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** The interrupt as text, without the end of its last line. */
export function showQuestion({ asked }: TerminalInterrupt): readonly Span[] {
  const hasNoMessage = asked.message === DEFAULT_MESSAGE && asked.kind === "other" && asked.value !== null;
  const message = hasNoMessage ? JSON.stringify(asked.value, undefined, 2) : asked.message;
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
      return asked.actions.map((action) => {
        const offered = offeredDecisions(action).join(", ");
        return plain(`${action.name} ${JSON.stringify(action.args)} (${offered})`);
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
