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

/**
 * Puts each changed message behind the one it follows, in place of its earlier version. A message that is rewritten where it
 * is keeps what stands next to it. O(messages) per change.
 */
export function withChanged(
  fold: ThreadFold,
  changes: NonNullable<EnvelopeOf<"state_snapshot">["payload"]["changed_messages"]>,
): readonly FoldMessage[] {
  const messages = [...fold.messages];
  for (const { after, message } of changes) {
    const at = messages.findIndex(({ id }) => id === message.id);
    const known = messages[at];
    const { reasoning, run_id }: Pick<FoldMessage, "reasoning" | "run_id"> = known ?? saidIn(fold);
    const next: FoldMessage = {
      ...message,
      ...(reasoning !== undefined && { reasoning: message.reasoning ?? reasoning }),
      ...(run_id !== undefined && { run_id }),
    };
    if (known && predecessor(messages, at) === after) {
      messages[at] = next;
      continue;
    }
    if (known) messages.splice(at, 1);
    messages.splice(indexBehind(messages, after), 0, next);
  }
  return messages;
}

/** The message of the conversation before this position. */
function predecessor(messages: readonly FoldMessage[], at: number): string | null {
  for (let index = at - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message && isConversation(message)) return message.id;
  }
  return null;
}

/** The position behind a message and what stands next to it; the end where it is not known. */
function indexBehind(messages: readonly FoldMessage[], after: string | null): number {
  const found = after === null ? -1 : messages.findIndex(({ id }) => id === after);
  if (after !== null && found === -1) return messages.length;
  let at = found + 1;
  for (let message = messages[at]; message && !isConversation(message); message = messages[at]) at += 1;
  return at;
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
