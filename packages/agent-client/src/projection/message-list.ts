import { factsOf, type WireMessage } from "../wire/agent-event.js";
import { type MessageRole, type MessageView, messageById, type ThreadView } from "./thread-view.js";

const ROLES: ReadonlySet<string> = new Set<MessageRole>([
  "user",
  "assistant",
  "tool",
  "system",
  "developer",
  "reasoning",
]);

/** Those of a role that somebody shows. One that does not say its own run is of the one that brings it, `runId`. */
export function readMessages(wire: readonly WireMessage[], runId?: string): readonly MessageView[] {
  return wire.flatMap((one) => (isRole(one.role) ? [toMessageView(one, one.role, runId)] : []));
}

export function toMessageView(
  wire: Omit<WireMessage, "role">,
  role: MessageRole,
  runId: string | undefined,
): MessageView {
  const { id, toolCalls, toolCallId, name, subagentRunId } = wire;
  const facts = factsOf(wire);
  return {
    id,
    role,
    content: wire.content ?? "",
    toolCalls: toolCalls?.map((call) => ({
      id: call.id,
      name: call.function.name,
      args: call.function.arguments,
    })),
    toolCallId,
    failed: facts.status === "error" || undefined,
    name,
    subagentRunId,
    runId: facts.runId ?? runId,
  };
}

function isRole(role: string): role is MessageRole {
  return ROLES.has(role);
}

/** Behind all others. The places of old views stay right, because a place beyond a view's length is nothing to it. */
export function appendMessage(view: ThreadView, message: MessageView): ThreadView {
  const { messages, places } = view;
  // The newest view alone may add to the shared map; one that is not, because it was replaced and then taken up again, makes its own.
  const isNewest = places.size === messages.length;
  const next = isNewest ? (places as Map<string, number>) : placesOf(messages);
  next.set(message.id, messages.length);
  return { ...view, messages: [...messages, message], places: next };
}

/** Behind all that the service told of, and before what only this client knows: that has no place in the thread yet. */
export function tellMessage(view: ThreadView, message: MessageView): ThreadView {
  return insertMessage(view, toldCount(view), message);
}

function toldCount({ messages }: ThreadView): number {
  return messages.findLastIndex(({ local }) => local === undefined) + 1;
}

/** The service has the message: what was shown ahead of it takes its place. */
export function receiveMessage(view: ThreadView, message: MessageView): ThreadView {
  const known = messageById(view, message.id);
  if (!known) return tellMessage(view, message);
  if (known.local === undefined) return view;
  if (view.messages[toldCount(view)]?.id === message.id) return replaceMessage(view, message);
  const others = view.messages.filter(({ id }) => id !== message.id);
  return tellMessage(withMessages(view, others), message);
}

export function insertMessage(view: ThreadView, at: number, message: MessageView): ThreadView {
  if (at === view.messages.length) return appendMessage(view, message);
  return withMessages(view, [...view.messages.slice(0, at), message, ...view.messages.slice(at)]);
}

/** In place: its id and position stay. */
export function replaceMessage(view: ThreadView, message: MessageView): ThreadView {
  const place = view.places.get(message.id);
  if (place === undefined || view.messages[place]?.id !== message.id) return view;
  const messages = view.messages.slice();
  messages[place] = message;
  return { ...view, messages };
}

export function withMessages(view: ThreadView, messages: readonly MessageView[]): ThreadView {
  return { ...view, messages, places: placesOf(messages) };
}

function placesOf(messages: readonly MessageView[]): Map<string, number> {
  return new Map(messages.map((message, index) => [message.id, index]));
}

/** A whole list from the service. What is the same keeps its identity; what only this client knows of stays behind it. */
export function takeSnapshot(view: ThreadView, wire: readonly WireMessage[]): ThreadView {
  const told = readMessages(wire).map((message) => {
    const known = messageById(view, message.id);
    return known && isSame(known, message) ? known : message;
  });
  const ids = new Set(told.map((message) => message.id));
  const local = view.messages.filter((message) => message.local !== undefined && !ids.has(message.id));
  return withMessages(view, [...told, ...local]);
}

const PLAIN_FIELDS = ["role", "toolCallId", "failed", "name", "subagentRunId", "runId", "local"] as const;

function isSame(a: MessageView, b: MessageView): boolean {
  return (
    PLAIN_FIELDS.every((field) => a[field] === b[field]) &&
    isSameContent(a.content, b.content) &&
    isSameContent(a.toolCalls ?? [], b.toolCalls ?? [])
  );
}

function isSameContent(a: string | readonly object[], b: string | readonly object[]): boolean {
  if (typeof a === "string" || typeof b === "string") return a === b;
  return a.length === b.length && (a.length === 0 || JSON.stringify(a) === JSON.stringify(b));
}
