import type { EnvelopeOf } from "@throughline/ai-core";
import { type FoldMessage, isConversation, type ThreadFold } from "./thread-fold.js";

/**
 * Where a result goes: behind the message that asked for it and the results already there, which is where the stock
 * clients put it. `undefined` when there is nothing to show: no message that carries it, nobody who asked, or shown before.
 */
export function placeOfResult(
  fold: ThreadFold,
  callId: string,
  payload: EnvelopeOf<"tool_end">["payload"],
): { readonly at: number; readonly message: FoldMessage } | undefined {
  const id = payload.message_id;
  if (payload.kind !== "tool" || id === undefined) return undefined;
  const asks = (message: FoldMessage) =>
    message.tool_calls?.some((call) => call.id === callId) ||
    fold.openMessages.some(
      (open) => open.message_id === message.id && open.tool_calls.some((call) => call.id === callId),
    );
  const owner = fold.messages.findLastIndex(asks);
  if (owner === -1 || fold.messages.some((message) => message.id === id)) return undefined;
  let at = owner + 1;
  while (fold.messages[at]?.role === "tool") at += 1;
  const subagent = fold.messages[owner]?.subagent_id;
  return {
    at,
    message: {
      id,
      role: "tool",
      tool_call_id: callId,
      content: typeof payload.result === "string" ? payload.result : JSON.stringify(payload.result),
      ...(payload.status === "error" && { status: "error" as const }),
      ...(subagent !== undefined && { subagent_id: subagent }),
    },
  };
}

/** The checkpoint's messages, and beside them what was shown but is no part of them: subagents' words, and thoughts. */
export function withTruth(shown: readonly FoldMessage[], truth: readonly FoldMessage[]): FoldMessage[] {
  const thoughts = new Map(
    shown.flatMap(({ id, reasoning }) => (reasoning === undefined ? [] : [[id, reasoning] as const])),
  );
  const ids = new Set(truth.map((message) => message.id));
  const kept = truth.map((message) => {
    const reasoning = message.reasoning ?? thoughts.get(message.id);
    return reasoning === undefined ? message : { ...message, reasoning };
  });
  return [...kept, ...shown.filter((message) => !ids.has(message.id)).flatMap(beside)];
}

/** Clients never forget a thought that a snapshot leaves out, so neither does the fold. */
function beside(message: FoldMessage): FoldMessage[] {
  if (!isConversation(message)) return [message];
  const { id, role, reasoning } = message;
  return reasoning === undefined ? [] : [{ id, role, content: "", reasoning, bare: true }];
}

/**
 * What is left of a message that was taken back: nothing, but for the place of its thought. A client only ever replaces a
 * thought, so it is told that it is empty; the message may be thought again under the same id.
 */
export function withdrawn({ id, role, reasoning, subagent_id }: FoldMessage): FoldMessage[] {
  if (reasoning === undefined) return [];
  return [
    { id, role, content: "", reasoning: "", bare: true, ...(subagent_id !== undefined && { subagent_id }) },
  ];
}
