import type { EnvelopeOf, Message } from "@throughline/ai-core";
import { resultContent } from "@throughline/coerce";
import { type FoldMessage, isConversation, saidBy, saidIn, type ThreadFold } from "./thread-fold.js";

/**
 * Where a result goes: behind the message that asked for it and the results already there, which is where the stock
 * clients put it. `undefined` when there is nothing to show: no message that carries it, no call that asked for it, or shown before.
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
      content: resultContent(payload.result),
      ...(payload.status === "error" && { status: "error" as const }),
      ...saidBy(subagent, fold),
      ...saidIn(fold),
    },
  };
}

/**
 * The checkpoint's messages, and, each where it was, what was shown beside them and is no part of them: subagents' words, and
 * thoughts.
 */
export function withTruth(fold: ThreadFold, truth: readonly Message[]): FoldMessage[] {
  const shown = new Map(fold.messages.map((message) => [message.id, message]));
  const ids = new Set(truth.map((message) => message.id));
  const kept = truth.map((message): FoldMessage => {
    const known: Pick<FoldMessage, "reasoning" | "run_id"> = shown.get(message.id) ?? saidIn(fold);
    const { reasoning, run_id } = known;
    return {
      ...message,
      ...(reasoning !== undefined && { reasoning: message.reasoning ?? reasoning }),
      ...(run_id !== undefined && { run_id }),
    };
  });
  const behind = new Map<string | undefined, FoldMessage[]>();
  let last: string | undefined;
  for (const message of fold.messages) {
    if (ids.has(message.id)) last = message.id;
    else {
      const list = behind.get(last) ?? [];
      list.push(...beside(message));
      behind.set(last, list);
    }
  }
  return [
    ...(behind.get(undefined) ?? []),
    ...kept.flatMap((message) => [message, ...(behind.get(message.id) ?? [])]),
  ];
}

/** Clients never forget a thought that a snapshot leaves out, so neither does the fold. */
function beside(message: FoldMessage): FoldMessage[] {
  if (!isConversation(message)) return [message];
  const { id, role, reasoning, run_id } = message;
  if (reasoning === undefined) return [];
  return [{ id, role, content: "", reasoning, bare: true, ...(run_id !== undefined && { run_id }) }];
}

/**
 * What is left of a message that was taken back: nothing, but for the place of its thought. A client only ever replaces a
 * thought, so it is told that it is empty; the message may be thought again under the same id.
 */
export function withdrawn({ tool_calls: _calls, reasoning, ...message }: FoldMessage): FoldMessage[] {
  return reasoning === undefined ? [] : [{ ...message, content: "", reasoning: "", bare: true }];
}
