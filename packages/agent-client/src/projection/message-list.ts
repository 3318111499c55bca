import { type AgUiMessage, factsOf } from "../wire/agent-event.js";
import { type MessageRole, messageById, type ThreadMessage, type ThreadView } from "./thread-view.js";

const ROLES: ReadonlySet<string> = new Set<MessageRole>([
  "user",
  "assistant",
  "tool",
  "system",
  "developer",
  "reasoning",
]);

/** Reads the messages of known roles. A message without a run of its own belongs to the run that delivers it, `runId`. */
export function readMessages(wire: readonly AgUiMessage[], runId?: string): readonly ThreadMessage[] {
  return wire.flatMap((one) => (isRole(one.role) ? [toMessageView(one, one.role, runId)] : []));
}

export function toMessageView(
  wire: Omit<AgUiMessage, "role">,
  role: MessageRole,
  runId: string | undefined,
): ThreadMessage {
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

/** Appends a message. The shared index stays right for old views, which ignore positions beyond their own length. */
export function appendMessage(view: ThreadView, message: ThreadMessage): ThreadView {
  const { messages, indexById } = view;
  // Only the newest view may add to the shared map; an older one that is used again copies it.
  const isNewest = indexById.size === messages.length;
  const next = isNewest ? (indexById as Map<string, number>) : positionsOf(messages);
  next.set(message.id, messages.length);
  return { ...view, messages: [...messages, message], indexById: next };
}

/** Inserts a confirmed message after all others of the service, and before local ones, which have no position in the thread yet. */
export function insertConfirmed(view: ThreadView, message: ThreadMessage): ThreadView {
  return insertMessage(view, confirmedCount(view), message);
}

function confirmedCount({ messages }: ThreadView): number {
  return messages.findLastIndex(({ local }) => local === undefined) + 1;
}

/** Confirms a message: the service's version replaces the optimistic one. */
export function confirmMessage(view: ThreadView, message: ThreadMessage): ThreadView {
  const known = messageById(view, message.id);
  if (!known) return insertConfirmed(view, message);
  if (known.local === undefined) return view;
  if (view.messages[confirmedCount(view)]?.id === message.id) return replaceMessage(view, message);
  const others = view.messages.filter(({ id }) => id !== message.id);
  return insertConfirmed(withMessages(view, others), message);
}

export function insertMessage(view: ThreadView, at: number, message: ThreadMessage): ThreadView {
  if (at === view.messages.length) return appendMessage(view, message);
  return withMessages(view, [...view.messages.slice(0, at), message, ...view.messages.slice(at)]);
}

/** Replaces a message in place: its id and position stay. */
export function replaceMessage(view: ThreadView, message: ThreadMessage): ThreadView {
  const index = view.indexById.get(message.id);
  if (index === undefined || view.messages[index]?.id !== message.id) return view;
  const messages = view.messages.slice();
  messages[index] = message;
  return { ...view, messages };
}

export function withMessages(view: ThreadView, messages: readonly ThreadMessage[]): ThreadView {
  return { ...view, messages, indexById: positionsOf(messages) };
}

function positionsOf(messages: readonly ThreadMessage[]): Map<string, number> {
  return new Map(messages.map((message, index) => [message.id, index]));
}

/** Replaces all confirmed messages by the service's list. Equal messages retain their identity; local ones stay after it. */
export function replaceMessages(view: ThreadView, wire: readonly AgUiMessage[]): ThreadView {
  const confirmed = readMessages(wire).map((message) => {
    const known = messageById(view, message.id);
    return known && isSame(known, message) ? known : message;
  });
  const ids = new Set(confirmed.map((message) => message.id));
  const local = view.messages.filter((message) => message.local !== undefined && !ids.has(message.id));
  return withMessages(view, [...confirmed, ...local]);
}

const PLAIN_FIELDS = ["role", "toolCallId", "failed", "name", "subagentRunId", "runId", "local"] as const;

function isSame(a: ThreadMessage, b: ThreadMessage): boolean {
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
