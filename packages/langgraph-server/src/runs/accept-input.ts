import {
  type AgentCommand,
  type FreshRunStart,
  type GraphDescriptor,
  type Interrupt,
  type Json,
  type JsonObject,
  type Message,
  ThroughlineError,
} from "@throughline/ai-core";
import {
  adaptResponse,
  dismissResponse,
  type Question,
  readInterruptRequest,
  validateResponse,
} from "@throughline/questions";
import { currentMessages, type ThreadProjection } from "@throughline/reading";
import type { RunInput } from "../threads/run-spec.js";
import { allowedKeys } from "../threads/thread-address.js";
import { isMutation } from "./commands.js";

/** R28: the response names no interrupt, and none is open: it got its response already, or never existed. */
export interface NoOpenInterrupt {
  readonly kind: "no_question";
}

/**
 * R26: measures what a client sent against what the thread holds. Throws `invalid_input` naming the field, or
 * `answer_mismatch` naming the interrupt.
 */
export function acceptInput(
  fold: ThreadProjection,
  agent: Pick<GraphDescriptor, "inputSchema" | "commands">,
  input: RunInput,
  command?: AgentCommand,
): FreshRunStart | NoOpenInterrupt {
  if (command && input.kind !== "input") throw beginsNothing(input.kind);
  switch (input.kind) {
    case "input": {
      rejectChangedText(fold, input.messages);
      const state = acceptedState(isMutation(command) ? undefined : fold.state, agent, input.state);
      return {
        kind: "input",
        messages: input.isAgain ? input.messages : newMessages(fold, input.messages),
        ...(Object.keys(state).length > 0 && { state }),
      };
    }
    case "resume":
      return { kind: "resume", answers: acceptResponses(fold, input.answers) };
    case "answer": {
      const interruptId = openInterrupt(fold);
      if (interruptId === undefined) return { kind: "no_question" };
      return { kind: "resume", answers: acceptResponses(fold, { [interruptId]: input.value }) };
    }
    case "fork":
      return input;
  }
}

/**
 * Messages the graph has not stored. A client also sends back text that is no part of the conversation, a subagent's for
 * one: an assistant's message that the thread does not know and that precedes one it does know is such a leftover.
 */
export function newMessages(fold: ThreadProjection, messages: readonly Message[]): readonly Message[] {
  // Shown and never stored: a run that ended before its first checkpoint left its input in the log alone.
  const held = new Set(fold.checkpoint_id === null ? [] : fold.messages.map((message) => message.id));
  const lastHeld = messages.findLastIndex((message) => held.has(message.id));
  return messages.filter((message, index) => {
    if (held.has(message.id)) return false;
    return index > lastHeld || (message.role !== "assistant" && message.role !== "tool");
  });
}

function rejectChangedText(fold: ThreadProjection, messages: readonly Message[]): void {
  const shown = new Map(currentMessages(fold).map((message) => [message.id, message]));
  for (const [index, message] of messages.entries()) {
    const known = shown.get(message.id);
    // An assistant's text may have reached the client in part only; a person's text is the person's own.
    if (known?.role !== "user" || (message.role === "user" && textOf(known) === textOf(message))) continue;
    throw new ThroughlineError(
      "invalid_input",
      `messages.${index}: the thread holds another text under this id. Give the new text an id of its own.`,
      { details: { field: `messages.${index}`, messageId: message.id } },
    );
  }
}

function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part && typeof part.text === "string" ? part.text : "")).join("");
}

function beginsNothing(kind: RunInput["kind"]): ThroughlineError {
  const what = kind === "fork" ? "a fork" : "an answer";
  return new ThroughlineError("invalid_input", `command: goes with new input, not with ${what}`, {
    details: { field: "command" },
  });
}

/**
 * Clients send their whole copy of the state: only keys of the input schema count, or all where it names none, and of those only
 * what differs from what is `held`. A mutation names the whole target state, so nothing is left out: until its turn comes, the
 * thread may have changed. R29: a command can't be smuggled in as state.
 */
function acceptedState(
  held: JsonObject | undefined,
  { inputSchema, commands }: Pick<GraphDescriptor, "inputSchema" | "commands">,
  sent: JsonObject = {},
): JsonObject {
  const known = allowedKeys(inputSchema, Object.keys(sent)).filter((key) => !key.startsWith("__"));
  const keys = known.filter((key) => key !== "command" || commands.length === 0);
  const accepted: JsonObject = {};
  for (const key of keys) {
    const value = Object.hasOwn(sent, key) ? sent[key] : undefined;
    if (key === "messages" || value === undefined) continue;
    if (JSON.stringify(value) !== JSON.stringify(held?.[key])) accepted[key] = value;
  }
  return accepted;
}

function openInterrupt({ interrupts }: ThreadProjection): string | undefined {
  if (interrupts.length <= 1) return interrupts[0]?.interrupt_id;
  throw new ThroughlineError(
    "invalid_input",
    "resume: several questions are open. Answer them by their ids.",
    {
      details: { field: "resume", interruptIds: interrupts.map(({ interrupt_id }) => interrupt_id) },
    },
  );
}

/** The mark by which graphs written for AG-UI recognize a dismissed interrupt, and executors a declined one. */
const DISMISSED = "__agui_cancelled__";

/**
 * Adapts responses to the graph's own dialect. Throws `answer_mismatch` for a response that the graph can't accept: LangGraph
 * stores a response before the graph reads it, and a wrong one would make the interrupted node fail for ever. A response to
 * an interrupt that is not open passes unchanged: the registry refuses it, or finds that it was sent before.
 */
export function acceptResponses(
  { interrupts }: Pick<ThreadProjection, "interrupts">,
  answers: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(answers).map(([interruptId, answer]) => {
      const asked = interrupts.find(({ interrupt_id }) => interrupt_id === interruptId);
      return [interruptId, asked ? acceptAnswer(asked, answer) : answer];
    }),
  );
}

function acceptAnswer({ interrupt_id, value, response_schema }: Interrupt, given: Json): Json {
  const question = readInterruptRequest(value, response_schema);
  const answer = isDismissed(given) ? dismissed(question, given) : adaptResponse(question, given);
  const mismatch = validateResponse(question, answer);
  if (!mismatch) return answer;
  const where = mismatch.path === "" ? "" : `${mismatch.path}: `;
  throw new ThroughlineError(
    "answer_mismatch",
    `The answer does not fit the question. ${where}${mismatch.problem}`,
    {
      details: { interruptId: interrupt_id, problem: mismatch.problem, path: mismatch.path },
    },
  );
}

type Mark = { [DISMISSED]: true; [key: string]: Json };

function isDismissed(answer: Json): answer is Mark {
  return (
    typeof answer === "object" && answer !== null && !Array.isArray(answer) && answer[DISMISSED] === true
  );
}

/** Adds the mark to the interrupt's own payload where it can: by it a changed graph clears the interrupt. */
function dismissed(question: Question, mark: Mark): Json {
  const own = dismissResponse(question);
  if (own === undefined) return mark;
  return typeof own === "object" && own !== null && !Array.isArray(own) ? { ...mark, ...own } : own;
}
