import type { Json, JsonObject } from "@throughline/ai-core";
import { type AgUiEvent, type AgUiMessage, isMessage, isObject, textOf } from "../events.js";
import { applyDelta } from "./patched.js";

type Messages = readonly AgUiMessage[];

/**
 * Applies one event to the messages, by the rules of `@ag-ui/client`: a client that joins must get the messages that a client
 * which stayed has. Copies the list, never an unchanged message.
 */
export function applyToMessages(messages: Messages, event: AgUiEvent): Messages {
  switch (event.type) {
    case "RUN_STARTED":
      return addUnknown(messages, isObject(event.input) ? event.input.messages : undefined);
    case "TEXT_MESSAGE_START":
      return openMessage(messages, event, textOf(event.role) ?? "assistant");
    case "REASONING_MESSAGE_START":
      return openMessage(messages, event, "reasoning");
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT":
      return changeMessage(messages, textOf(event.messageId), (message) => ({
        ...message,
        content: `${textOf(message.content) ?? ""}${textOf(event.delta) ?? ""}`,
        ...mergedMetadata(message, event),
      }));
    case "TEXT_MESSAGE_END":
    case "REASONING_MESSAGE_END":
      return changeMessage(messages, textOf(event.messageId), (message) => withMetadata(message, event));
    case "TOOL_CALL_START":
      return startToolCall(messages, event);
    case "TOOL_CALL_ARGS":
      return changeToolCall(messages, event.toolCallId, (call) => {
        const made = isObject(call.function) ? call.function : {};
        const text = `${textOf(made.arguments) ?? ""}${textOf(event.delta) ?? ""}`;
        return withMetadata({ ...call, function: { ...made, arguments: text } }, event);
      });
    case "TOOL_CALL_END":
      return changeToolCall(messages, event.toolCallId, (call) => withMetadata(call, event));
    case "TOOL_CALL_RESULT":
      return addResult(messages, event);
    case "MESSAGES_SNAPSHOT":
      return mergeSnapshot(messages, event.messages);
    case "ACTIVITY_SNAPSHOT":
      return showActivity(messages, event);
    case "ACTIVITY_DELTA":
      return changeActivity(messages, event);
    case "REASONING_ENCRYPTED_VALUE":
      return storeEncrypted(messages, event);
    default:
      return messages;
  }
}

function addUnknown(messages: Messages, input: Json | undefined): Messages {
  const known = new Set(messages.map(({ id }) => id));
  const added = (Array.isArray(input) ? input : []).filter(isMessage).filter(({ id }) => {
    if (known.has(id)) return false;
    known.add(id);
    return true;
  });
  return added.length === 0 ? messages : [...messages, ...added];
}

function openMessage(messages: Messages, event: AgUiEvent, role: string): Messages {
  const id = textOf(event.messageId);
  if (id === undefined) return messages;
  const known = messages.find((message) => message.id === id);
  if (known?.role === "activity") return messages;
  if (known) return replace(messages, known, withMetadata(known, event));
  const { name } = event;
  const made: AgUiMessage = {
    id,
    role,
    content: "",
    ...(role !== "reasoning" && name !== undefined && { name }),
    ...ownerOf(event),
  };
  return [...messages, withMetadata(made, event)];
}

function changeMessage(
  messages: Messages,
  id: string | undefined,
  change: (message: AgUiMessage) => AgUiMessage,
): Messages {
  // From the end: a streaming message is nearly always the last one.
  const message = messages.findLast((one) => one.id === id);
  return message === undefined || message.role === "activity"
    ? messages
    : replace(messages, message, change(message));
}

function startToolCall(messages: Messages, event: AgUiEvent): Messages {
  const { toolCallId, toolCallName, parentMessageId } = event;
  if (typeof toolCallId !== "string") return messages;
  if (ownerOfCall(messages, toolCallId)) {
    return changeToolCall(messages, toolCallId, (call) => {
      const made = isObject(call.function) ? call.function : {};
      return withMetadata({ ...call, function: { ...made, name: toolCallName ?? "" } }, event);
    });
  }
  const call = withMetadata<JsonObject>(
    { id: toolCallId, type: "function", function: { name: toolCallName ?? "", arguments: "" } },
    event,
  );
  const parent = messages.find(({ id }) => id === parentMessageId);
  if (parent?.role === "assistant") {
    return replace(messages, parent, { ...parent, toolCalls: [...toolCallsOf(parent), call] });
  }
  // A parent of another role can't hold calls: the message is named after the call.
  const id = parent === undefined ? (textOf(parentMessageId) ?? toolCallId) : toolCallId;
  return [...messages, { id, role: "assistant", toolCalls: [call], ...ownerOf(event) }];
}

function changeToolCall(
  messages: Messages,
  id: Json | undefined,
  change: (call: JsonObject) => JsonObject,
): Messages {
  const owner = ownerOfCall(messages, id);
  if (!owner) return messages;
  const toolCalls = toolCallsOf(owner).map((call) => (call.id === id ? change(call) : call));
  return replace(messages, owner, { ...owner, toolCalls });
}

function addResult(messages: Messages, event: AgUiEvent): Messages {
  const { messageId, toolCallId, content } = event;
  if (typeof messageId !== "string") return messages;
  const result = withMetadata<AgUiMessage>(
    {
      id: messageId,
      toolCallId: toolCallId ?? "",
      role: textOf(event.role) ?? "tool",
      content: content ?? "",
      ...ownerOf(event),
    },
    event,
  );
  const owner = messages.findIndex(
    (message) => message.role === "assistant" && toolCallsOf(message).some(({ id }) => id === toolCallId),
  );
  if (owner === -1) return [...messages, result];
  let at = owner + 1;
  while (messages[at]?.role === "tool") at += 1;
  return messages.toSpliced(at, 0, result);
}

/** Applies a snapshot. Thoughts and activities are retained where it has none of their role; all others are the snapshot's. */
function mergeSnapshot(messages: Messages, snapshot: Json | undefined): Messages {
  const received = (Array.isArray(snapshot) ? snapshot : []).filter(isMessage);
  const byId = new Map(received.map((message) => [message.id, message]));
  const hasRole = (role: string) => received.some((message) => message.role === role);
  const retainedRoles = new Set(["activity", "reasoning"].filter((role) => !hasRole(role)));
  const retained = messages.flatMap((message) => {
    if (retainedRoles.has(message.role)) return [message];
    const now = byId.get(message.id);
    return now ? [now] : [];
  });
  const held = new Set(retained.map(({ id }) => id));
  return [...retained, ...received.filter(({ id }) => !held.has(id))];
}

function showActivity(messages: Messages, event: AgUiEvent): Messages {
  const { messageId, activityType, content } = event;
  if (typeof messageId !== "string") return messages;
  const shown: AgUiMessage = {
    id: messageId,
    role: "activity",
    activityType: activityType ?? "",
    content: content ?? {},
    ...ownerOf(event),
  };
  const known = messages.find(({ id }) => id === messageId);
  if (!known) return [...messages, withMetadata(shown, event)];
  const isReplaced = event.replace !== false;
  if (known.role !== "activity")
    return isReplaced ? replace(messages, known, withMetadata(shown, event)) : messages;
  const { metadata } = known;
  const now = isReplaced ? { ...shown, ...(metadata !== undefined && { metadata }) } : known;
  return replace(messages, known, withMetadata(now, event));
}

function changeActivity(messages: Messages, event: AgUiEvent): Messages {
  const known = messages.find(({ id }) => id === event.messageId);
  if (known?.role !== "activity") return messages;
  const updated = withMetadata(known, event);
  const content = applyDelta(updated.content ?? {}, event.patch);
  const { activityType } = event;
  const now =
    content === undefined
      ? updated
      : { ...updated, content, ...(activityType !== undefined && { activityType }) };
  return replace(messages, known, now);
}

function storeEncrypted(messages: Messages, event: AgUiEvent): Messages {
  const { entityId, encryptedValue = null } = event;
  if (event.subtype === "tool-call") {
    return changeToolCall(messages, entityId, (call) => ({ ...call, encryptedValue }));
  }
  return changeMessage(messages, textOf(entityId), (message) => ({ ...message, encryptedValue }));
}

function toolCallsOf(message: AgUiMessage): readonly JsonObject[] {
  return Array.isArray(message.toolCalls) ? message.toolCalls.filter(isObject) : [];
}

function ownerOfCall(messages: Messages, id: Json | undefined): AgUiMessage | undefined {
  return messages.find((message) => toolCallsOf(message).some((call) => call.id === id));
}

function ownerOf({ subagentRunId }: AgUiEvent): JsonObject {
  return typeof subagentRunId === "string" ? { subagentRunId } : {};
}

function mergedMetadata(target: JsonObject, event: AgUiEvent): { metadata?: JsonObject } {
  if (!isObject(event.metadata)) return {};
  return { metadata: { ...(isObject(target.metadata) && target.metadata), ...event.metadata } };
}

/** Merges an event's metadata into that of its message or call, key by key. */
function withMetadata<Target extends JsonObject>(target: Target, event: AgUiEvent): Target {
  return isObject(event.metadata) ? { ...target, ...mergedMetadata(target, event) } : target;
}

function replace(messages: Messages, old: AgUiMessage, now: AgUiMessage): Messages {
  return old === now ? messages : messages.with(messages.lastIndexOf(old), now);
}
