import {
  type FreshRunStart,
  type GraphDescriptor,
  type JsonObject,
  type Message,
  ThroughlineError,
} from "@throughline/ai-core";
import { currentMessages, type ThreadFold } from "@throughline/stream-adapter";
import type { RunInput } from "./run-service.js";
import { schemaKeys } from "./schema-keys.js";

/** R28: an answer that names no question, and none is open: it was answered already, or never asked. */
export interface NoQuestion {
  readonly kind: "no_question";
}

/** R26: measures what a client sent against what the thread holds. Throws `invalid_input` naming the field. */
export function acceptInput(
  fold: ThreadFold,
  { inputSchema }: Pick<GraphDescriptor, "inputSchema">,
  input: RunInput,
): FreshRunStart | NoQuestion {
  switch (input.kind) {
    case "input": {
      refuseChangedText(fold, input.messages);
      const state = acceptedState(fold, inputSchema, input.state);
      return {
        kind: "input",
        messages: unheldMessages(fold, input.messages),
        ...(Object.keys(state).length > 0 && { state }),
      };
    }
    case "resume":
      return input;
    case "answer": {
      const interruptId = openInterrupt(fold);
      if (interruptId === undefined) return { kind: "no_question" };
      return { kind: "resume", answers: { [interruptId]: input.value } };
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

/** Clients send their whole copy of the state: only keys of the input schema count, and of those only what differs. */
function acceptedState(fold: ThreadFold, inputSchema: JsonObject, sent: JsonObject = {}): JsonObject {
  const keys = schemaKeys(inputSchema) ?? [];
  const accepted: JsonObject = {};
  for (const key of keys) {
    const value = Object.hasOwn(sent, key) ? sent[key] : undefined;
    if (key === "messages" || value === undefined) continue;
    if (JSON.stringify(value) !== JSON.stringify(fold.state[key])) accepted[key] = value;
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
