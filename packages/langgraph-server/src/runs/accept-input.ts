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
import { adaptAnswer, checkAnswer, dismissAnswer, type Question, readQuestion } from "@throughline/questions";
import { currentMessages, type ThreadFold } from "@throughline/reading";
import type { RunInput } from "../threads/run-spec.js";
import { allowedKeys } from "../threads/thread-address.js";
import { isMutation } from "./commands.js";

/** R28: an answer that names no question, and none is open: it was answered already, or never asked. */
export interface NoQuestion {
  readonly kind: "no_question";
}

/**
 * R26: measures what a client sent against what the thread holds. Throws `invalid_input` naming the field, or
 * `answer_mismatch` naming the question.
 */
export function acceptInput(
  fold: ThreadFold,
  agent: Pick<GraphDescriptor, "inputSchema" | "commands">,
  input: RunInput,
  command?: AgentCommand,
): FreshRunStart | NoQuestion {
  if (command && input.kind !== "input") throw beginsNothing(input.kind);
  switch (input.kind) {
    case "input": {
      refuseChangedText(fold, input.messages);
      const state = acceptedState(isMutation(command) ? undefined : fold.state, agent, input.state);
      return {
        kind: "input",
        messages: input.isAgain ? input.messages : unheldMessages(fold, input.messages),
        ...(Object.keys(state).length > 0 && { state }),
      };
    }
    case "resume":
      return { kind: "resume", answers: acceptAnswers(fold, input.answers) };
    case "answer": {
      const interruptId = openInterrupt(fold);
      if (interruptId === undefined) return { kind: "no_question" };
      return { kind: "resume", answers: acceptAnswers(fold, { [interruptId]: input.value }) };
    }
    case "fork":
      return input;
  }
}

/**
 * Messages the graph has not stored. A client also hands back words that are no part of the conversation, a subagent's for
 * one: what the thread does not know, and an assistant said before something it does know, is such a leftover.
 */
export function unheldMessages(fold: ThreadFold, messages: readonly Message[]): readonly Message[] {
  // Shown and never stored: a run that ended before its first checkpoint left its input in the log alone.
  const held = new Set(fold.checkpoint_id === null ? [] : fold.messages.map((message) => message.id));
  const lastHeld = messages.findLastIndex((message) => held.has(message.id));
  return messages.filter((message, index) => {
    if (held.has(message.id)) return false;
    return index > lastHeld || (message.role !== "assistant" && message.role !== "tool");
  });
}

function refuseChangedText(fold: ThreadFold, messages: readonly Message[]): void {
  const shown = new Map(currentMessages(fold).map((message) => [message.id, message]));
  for (const [index, message] of messages.entries()) {
    const known = shown.get(message.id);
    // An assistant's words may have reached the client in part only; a person's are the person's own.
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
 * what differs from what is `held`. A mutation says what the state is to be, so nothing is left out: until its turn comes, the thread may have
 * become something else. R29: a command can't be smuggled in as state.
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

function openInterrupt({ interrupts }: ThreadFold): string | undefined {
  if (interrupts.length <= 1) return interrupts[0]?.interrupt_id;
  throw new ThroughlineError(
    "invalid_input",
    "resume: several questions are open. Answer them by their ids.",
    {
      details: { field: "resume", interruptIds: interrupts.map(({ interrupt_id }) => interrupt_id) },
    },
  );
}

/** The mark that graphs written for AG-UI know a dismissed question by, and executors a declined one. */
const DISMISSED = "__agui_cancelled__";

/**
 * Answers in the spelling of the graph that asked. Throws `answer_mismatch` for one that the graph can't take: LangGraph
 * stores an answer before the graph looks at it, and a wrong one would make the asking node fail for ever. An answer to a
 * question that is not open goes on as it is: the registry refuses it, or finds that it was given before.
 */
export function acceptAnswers(
  { interrupts }: Pick<ThreadFold, "interrupts">,
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
  const question = readQuestion(value, response_schema);
  const answer = isDismissed(given) ? dismissed(question, given) : adaptAnswer(question, given);
  const mismatch = checkAnswer(question, answer);
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

/** The mark stays beside the question's own words where it can: by it a graph that was changed sets the question aside. */
function dismissed(question: Question, mark: Mark): Json {
  const own = dismissAnswer(question);
  if (own === undefined) return mark;
  return typeof own === "object" && own !== null && !Array.isArray(own) ? { ...mark, ...own } : own;
}
