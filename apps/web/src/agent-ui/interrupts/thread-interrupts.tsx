"use client";

import type { ThreadMessage, ToolCallView } from "@throughline/agent-client";
import {
  type OpenInterrupt,
  readInterrupt,
  useCommands,
  useInterrupts,
  useThreadHandle,
} from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { type ReactNode, useMemo } from "react";
import { type StableThread, useStableThread } from "../conversation/stable-thread";
import { useThreadSession } from "../conversation/thread-session";
import { isJsonObject } from "../primitives/is-json-object";
import { type Approvable, rowsOf } from "./approval-rows";
import { InterruptList } from "./interrupt-list";

/** The open interrupts on the page of their thread. */
export function ThreadInterrupts(): ReactNode {
  const interrupts = useInterrupts();
  const commands = useCommands();
  const { track } = useThreadSession();
  const messages = useStableThread(messagesOf);
  const questions = useMemo(
    () => interrupts.map((interrupt) => withCall(readInterrupt(interrupt), messages)),
    [interrupts, messages],
  );
  return (
    <InterruptList
      thread={useThreadHandle()}
      questions={questions}
      label="Questions of the agent"
      callsOf={(question) => matchToolCalls(question, messages)}
      // Queued: another tab may be running its response to another interrupt right now.
      onSend={(answers) => track(commands.run({ answers }, { kind: "queue" }))}
    />
  );
}

const messagesOf = ({ messages }: StableThread) => messages;

/**
 * The tool calls of an interrupt's rows, by row. LangChain's middleware sends no ids: a call is matched by name and arguments among
 * those without a result. `undefined`: it is in no message, as with a subagent's call.
 */
export function matchToolCalls(
  question: Approvable,
  messages: readonly ThreadMessage[],
): readonly (string | undefined)[] {
  if (question.kind === "approval" && question.toolCallId !== undefined) return [question.toolCallId];
  const open = openCalls(messages);
  const claimed = new Set<string>();
  return rowsOf(question).map(({ name, args }) => {
    const found = open.find(
      (call) => !claimed.has(call.id) && call.name === name && sameJson(parsed(call.args), args),
    );
    if (found) claimed.add(found.id);
    return found?.id;
  });
}

/** Completes an approval that has only the id of its call with the name and arguments from the conversation. */
function withCall(asked: OpenInterrupt, messages: readonly ThreadMessage[]): OpenInterrupt {
  const { question } = asked;
  if (question.kind !== "approval" || question.action.name !== "") return asked;
  const call = openCalls(messages).find(({ id }) => id === question.toolCallId);
  if (!call) return asked;
  const args = parsed(call.args);
  const action = { ...question.action, name: call.name, ...(isJsonObject(args) && { args }) };
  return { ...asked, question: { ...question, action } };
}

function openCalls(messages: readonly ThreadMessage[]): readonly ToolCallView[] {
  const answered = new Set(messages.map(({ toolCallId }) => toolCallId));
  return messages.flatMap(({ toolCalls }) => toolCalls?.filter(({ id }) => !answered.has(id)) ?? []);
}

function sameJson(a: Json | undefined, b: Json): boolean {
  return a !== undefined && JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, part]) => [name, sorted(part)]),
  );
}

function parsed(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text === "" ? "{}" : text);
    return value;
  } catch {
    return undefined;
  }
}
