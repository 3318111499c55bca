import type { ContentPart, Interrupt, Json, ToolCall } from "@throughline/ai-core";
import {
  currentMessages,
  type OpenMessage,
  type ProjectedMessage,
  type ThreadProjection,
} from "../../fold/thread-fold.js";
import { toAgUiInterrupt } from "../ag-ui/interrupts.js";
import { contentText, type FileUrl, fileOf } from "../media-words.js";
import type { Tag, UiMessageChunk } from "./chunk.js";

/** The id of the newest user message, which the reply belongs to; `undefined` before the first one. */
export function lastUserMessageId({ messages }: Pick<ThreadProjection, "messages">): string | undefined {
  return messages.findLast(({ role }) => role === "user")?.id;
}

/** The id of the one chat message that holds the whole reply to a user message, over any number of runs. */
export function replyId(userMessageId: string | undefined): string {
  return `${userMessageId ?? "thread"}/answer`;
}

/** The messages of the reply: the conversation's own messages and thoughts, and the results of tools. */
export function replyMessages(
  projection: ThreadProjection,
  userMessageId = lastUserMessageId(projection),
): ProjectedMessage[] {
  const messages = currentMessages(projection);
  const listed = new Set(messages.map(({ id }) => id));
  const thoughts = projection.openMessages
    .filter((open) => !listed.has(open.message_id) && open.reasoning !== "" && open.subagent_id === null)
    .map(
      ({ message_id: id, reasoning }): ProjectedMessage => ({
        id,
        role: "assistant",
        content: "",
        reasoning,
      }),
    );
  const since = messages.slice(messages.findLastIndex(({ id }) => id === userMessageId) + 1);
  return [...since, ...thoughts].filter(
    ({ role, subagent_id }) => (role === "assistant" || role === "tool") && subagent_id === undefined,
  );
}

export interface MessageChunkOptions {
  readonly fileUrl: FileUrl | undefined;
  /** Messages that still stream: their open parts are left open. */
  readonly open: readonly OpenMessage[];
  /** A step began before and has not ended. */
  readonly isStepOpen?: boolean;
}

/** Encodes whole messages. `reply`: all messages the client has or will get, to whose calls the results may belong. */
export function messageChunks(
  messages: readonly ProjectedMessage[],
  reply: readonly ProjectedMessage[],
  { fileUrl, open: openMessages, isStepOpen = false }: MessageChunkOptions,
): UiMessageChunk[] {
  const chunks: UiMessageChunk[] = [];
  let inStep = isStepOpen;
  for (const message of messages) {
    if (message.role === "tool") {
      chunks.push(...resultChunks(message, reply, fileUrl));
      continue;
    }
    const open = openMessages.find(({ message_id }) => message_id === message.id);
    const live = open && isStreamed(open) ? open : undefined;
    if (!inStep) chunks.push({ type: "start-step" });
    chunks.push(...wholeMessageChunks(message, live, fileUrl));
    inStep ||= live !== undefined;
    if (!inStep) chunks.push({ type: "finish-step" });
  }
  return chunks;
}

function wholeMessageChunks(
  { id, content, reasoning = "", tool_calls = [] }: ProjectedMessage,
  open: OpenMessage | undefined,
  fileUrl: FileUrl | undefined,
): UiMessageChunk[] {
  const chunks: UiMessageChunk[] = [];
  if (reasoning !== "" || open?.reasoning_open) {
    chunks.push(
      { type: "reasoning-start", id, ...tag(id) },
      { type: "reasoning-delta", id, delta: reasoning },
    );
    if (!open?.reasoning_open) chunks.push({ type: "reasoning-end", id });
  }
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  parts.forEach((part, at) => {
    const isLeftOpen = open !== undefined && isTextOpen(open) && at === parts.length - 1;
    if (!isLeftOpen) chunks.push(...partChunks(id, part, fileUrl));
    else
      chunks.push(
        { type: "text-start", id, ...tag(id) },
        { type: "text-delta", id, delta: contentText([part]) },
      );
  });
  for (const call of tool_calls) {
    const isStreaming = open?.tool_calls.some((known) => known.id === call.id && !known.closed);
    chunks.push(inputStart(call, id));
    if (!isStreaming) chunks.push(inputAvailable(call, id));
    else if (call.args !== "")
      chunks.push({ type: "tool-input-delta", toolCallId: call.id, inputTextDelta: call.args });
  }
  return chunks;
}

/** Encodes a part of a message's content: a file, or text. */
export function partChunks(id: string, part: ContentPart, fileUrl: FileUrl | undefined): UiMessageChunk[] {
  const file = fileOf(part, fileUrl);
  if (file) return [{ type: "file", url: file.url, mediaType: file.mimeType, ...tag(id) }];
  const delta = contentText([part], fileUrl);
  if (delta === "") return [];
  return [
    { type: "text-start", id, ...tag(id) },
    { type: "text-delta", id, delta },
    { type: "text-end", id },
  ];
}

/** Encodes a tool's result; nothing for an unknown call, since a client fails on the result of a call that it never received. */
export function resultChunks(
  { tool_call_id: toolCallId = "", content, status }: ProjectedMessage,
  reply: readonly ProjectedMessage[],
  fileUrl: FileUrl | undefined,
): UiMessageChunk[] {
  const isKnown = reply.some(({ tool_calls }) => tool_calls?.some(({ id }) => id === toolCallId));
  if (!isKnown) return [];
  const text = contentText(content, fileUrl);
  return status === "error"
    ? [{ type: "tool-output-error", toolCallId, errorText: text, dynamic: true }]
    : [{ type: "tool-output-available", toolCallId, output: text, dynamic: true }];
}

export function interruptChunk(interrupt: Interrupt, status: "open" | "answered"): UiMessageChunk {
  return {
    type: "data-question",
    id: interrupt.interrupt_id,
    data: { ...toAgUiInterrupt(interrupt), status },
  };
}

/** Ends the open parts of the messages. */
export function endMessages(
  { openMessages }: ThreadProjection,
  isEnding: (open: OpenMessage) => boolean = () => true,
): UiMessageChunk[] {
  const streamed = openMessages.filter(isStreamed);
  const ending = streamed.filter(isEnding);
  if (ending.length === 0) return [];
  const chunks = ending.flatMap((open): UiMessageChunk[] => {
    const id = open.message_id;
    return [
      ...(open.reasoning_open ? [{ type: "reasoning-end" as const, id }] : []),
      ...open.tool_calls.filter(({ closed }) => !closed).map((call) => inputAvailable(call, id)),
      ...(isTextOpen(open) ? [{ type: "text-end" as const, id }] : []),
    ];
  });
  // `finish-step` makes clients forget open parts, so it waits until messages that stream in parallel have ended.
  return ending.length === streamed.length ? [...chunks, { type: "finish-step" }] : chunks;
}

/** Whether parts of the message were emitted since it was opened, which must be ended. */
export function isStreamed(open: OpenMessage): boolean {
  const isStreaming = open.text_open || open.reasoning_open || open.tool_calls.some(({ closed }) => !closed);
  return open.subagent_id === null && isStreaming;
}

export function endsWithFile({ text, media }: OpenMessage): boolean {
  return media?.at(-1)?.at === text.length;
}

export function isTextOpen(open: OpenMessage): boolean {
  return open.text_open && !endsWithFile(open);
}

export function inputStart({ id, name }: Pick<ToolCall, "id" | "name">, messageId: string): UiMessageChunk {
  return { type: "tool-input-start", toolCallId: id, toolName: name, dynamic: true, ...tag(messageId) };
}

function inputAvailable({ id, name, args }: ToolCall, messageId: string): UiMessageChunk {
  return {
    type: "tool-input-available",
    toolCallId: id,
    toolName: name,
    input: inputOf(args),
    dynamic: true,
    ...tag(messageId),
  };
}

/** Parses a call's arguments. Those of a call that was cut short are no JSON and stay text. */
function inputOf(args: string): Json {
  try {
    // A parsed boundary: what JSON.parse gives is JSON.
    return args === "" ? {} : (JSON.parse(args) as Json);
  } catch {
    return args;
  }
}

export function tag(messageId: string): Tag {
  return { providerMetadata: { throughline: { messageId } } };
}
