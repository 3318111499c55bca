import type { EnvelopeOf, Message } from "@throughline/ai-core";
import { resultContent } from "@throughline/coerce";
import {
  isConversation,
  type ProjectedMessage,
  runTag,
  subagentTag,
  type ThreadProjection,
} from "./thread-fold.js";

/**
 * Finds the position of a tool's result: after the message with the call and the results already there, which is where the
 * stock clients insert it. `undefined` when there is nothing to show: no message carries it, no call requested it, or it was
 * shown before.
 */
export function toolResultPosition(
  projection: ThreadProjection,
  callId: string,
  payload: EnvelopeOf<"tool_end">["payload"],
): { readonly at: number; readonly message: ProjectedMessage } | undefined {
  const id = payload.message_id;
  if (payload.kind !== "tool" || id === undefined) return undefined;
  const ownsCall = (message: ProjectedMessage) =>
    message.tool_calls?.some((call) => call.id === callId) ||
    projection.openMessages.some(
      (open) => open.message_id === message.id && open.tool_calls.some((call) => call.id === callId),
    );
  const owner = projection.messages.findLastIndex(ownsCall);
  if (owner === -1 || projection.messages.some((message) => message.id === id)) return undefined;
  let at = owner + 1;
  while (projection.messages[at]?.role === "tool") at += 1;
  const subagent = projection.messages[owner]?.subagent_id;
  return {
    at,
    message: {
      id,
      role: "tool",
      tool_call_id: callId,
      content: resultContent(payload.result),
      ...(payload.status === "error" && { status: "error" as const }),
      ...subagentTag(subagent, projection),
      ...runTag(projection),
    },
  };
}

/**
 * Replaces the conversation by the checkpoint's messages. Side messages that were shown between them, those of subagents and
 * thoughts, retain their positions.
 */
export function reconcileMessages(
  projection: ThreadProjection,
  truth: readonly Message[],
): ProjectedMessage[] {
  const shown = new Map(projection.messages.map((message) => [message.id, message]));
  const ids = new Set(truth.map((message) => message.id));
  const committed = truth.map((message): ProjectedMessage => {
    const known: Pick<ProjectedMessage, "reasoning" | "run_id"> = shown.get(message.id) ?? runTag(projection);
    const { reasoning, run_id } = known;
    return {
      ...message,
      ...(reasoning !== undefined && { reasoning: message.reasoning ?? reasoning }),
      ...(run_id !== undefined && { run_id }),
    };
  });
  const sideAfter = new Map<string | undefined, ProjectedMessage[]>();
  let last: string | undefined;
  for (const message of projection.messages) {
    if (ids.has(message.id)) last = message.id;
    else {
      const list = sideAfter.get(last) ?? [];
      list.push(...sideMessage(message));
      sideAfter.set(last, list);
    }
  }
  return [
    ...(sideAfter.get(undefined) ?? []),
    ...committed.flatMap((message) => [message, ...(sideAfter.get(message.id) ?? [])]),
  ];
}

/**
 * Inserts each changed message after its predecessor, in place of its earlier version. A message that is rewritten at the
 * same position retains the side messages next to it. O(messages) per change.
 */
export function withChanged(
  projection: ThreadProjection,
  changes: NonNullable<EnvelopeOf<"state_snapshot">["payload"]["changed_messages"]>,
): readonly ProjectedMessage[] {
  const messages = [...projection.messages];
  for (const { after, message } of changes) {
    const at = messages.findIndex(({ id }) => id === message.id);
    const known = messages[at];
    const { reasoning, run_id }: Pick<ProjectedMessage, "reasoning" | "run_id"> = known ?? runTag(projection);
    const next: ProjectedMessage = {
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

/** The id of the conversation's last message before this position. */
function predecessor(messages: readonly ProjectedMessage[], at: number): string | null {
  for (let index = at - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message && isConversation(message)) return message.id;
  }
  return null;
}

/** The position after a message and the side messages next to it; the end of the list where the message is not known. */
function indexBehind(messages: readonly ProjectedMessage[], after: string | null): number {
  const found = after === null ? -1 : messages.findIndex(({ id }) => id === after);
  if (after !== null && found === -1) return messages.length;
  let at = found + 1;
  for (let message = messages[at]; message && !isConversation(message); message = messages[at]) at += 1;
  return at;
}

/** Reduces a message that the checkpoint lacks to its thought: clients never drop a thought that a snapshot omits. */
function sideMessage(message: ProjectedMessage): ProjectedMessage[] {
  if (!isConversation(message)) return [message];
  const { id, role, reasoning, run_id } = message;
  if (reasoning === undefined) return [];
  return [{ id, role, content: "", reasoning, bare: true, ...(run_id !== undefined && { run_id }) }];
}

/**
 * Reduces a retracted message to an empty thought, or to nothing where it had none. Clients only ever replace a thought, so
 * they get an empty one; the model may write a thought again under the same id.
 */
export function withdrawn({
  tool_calls: _calls,
  reasoning,
  ...message
}: ProjectedMessage): ProjectedMessage[] {
  return reasoning === undefined ? [] : [{ ...message, content: "", reasoning: "", bare: true }];
}
