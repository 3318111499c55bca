import type { ContentPart, Interrupt, Json, ToolCall } from "@throughline/ai-core";
import {
  currentMessages,
  type FoldMessage,
  type OpenMessage,
  type ThreadFold,
} from "../../fold/thread-fold.js";
import { toAgUiInterrupt } from "../ag-ui/interrupts.js";
import { contentWords, type FileUrl, fileOf } from "../media-words.js";
import type { Tag, UiMessageChunk } from "./chunk.js";

/** The person's message that an answer answers; `undefined` before anyone spoke. */
export function askedLast({ messages }: Pick<ThreadFold, "messages">): string | undefined {
  return messages.findLast(({ role }) => role === "user")?.id;
}

/** The id of the one message of a chat that holds everything said since a person spoke, over however many runs. */
export function answerId(asked: string | undefined): string {
  return `${asked ?? "thread"}/answer`;
}

/** What was said since: the conversation's own messages and thoughts, and the results of tools. */
export function answerOf(fold: ThreadFold, asked = askedLast(fold)): FoldMessage[] {
  const messages = currentMessages(fold);
  const placed = new Set(messages.map(({ id }) => id));
  const thoughts = fold.openMessages
    .filter((open) => !placed.has(open.message_id) && open.reasoning !== "" && open.subagent_id === null)
    .map(({ message_id: id, reasoning }): FoldMessage => ({ id, role: "assistant", content: "", reasoning }));
  const since = messages.slice(messages.findLastIndex(({ id }) => id === asked) + 1);
  return [...since, ...thoughts].filter(
    ({ role, subagent_id }) => (role === "assistant" || role === "tool") && subagent_id === undefined,
  );
}

export interface TellOptions {
  readonly fileUrl: FileUrl | undefined;
  /** Messages that go on: what is open of them is left open. */
  readonly open: readonly OpenMessage[];
  /** A step began before and has not ended. */
  readonly isStepOpen?: boolean;
}

/** Messages in one piece each. `answer`: all that the client was or will be told of, whose calls results may belong to. */
export function tellMessages(
  messages: readonly FoldMessage[],
  answer: readonly FoldMessage[],
  { fileUrl, open: openMessages, isStepOpen = false }: TellOptions,
): UiMessageChunk[] {
  const chunks: UiMessageChunk[] = [];
  let inStep = isStepOpen;
  for (const message of messages) {
    if (message.role === "tool") {
      chunks.push(...tellResult(message, answer, fileUrl));
      continue;
    }
    const open = openMessages.find(({ message_id }) => message_id === message.id);
    const live = open && isTold(open) ? open : undefined;
    if (!inStep) chunks.push({ type: "start-step" });
    chunks.push(...tellWhole(message, live, fileUrl));
    inStep ||= live !== undefined;
    if (!inStep) chunks.push({ type: "finish-step" });
  }
  return chunks;
}

function tellWhole(
  { id, content, reasoning = "", tool_calls = [] }: FoldMessage,
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
    if (!isLeftOpen) chunks.push(...tellPart(id, part, fileUrl));
    else
      chunks.push(
        { type: "text-start", id, ...tag(id) },
        { type: "text-delta", id, delta: contentWords([part]) },
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

/** A part of a message's content: a file, or words. */
export function tellPart(id: string, part: ContentPart, fileUrl: FileUrl | undefined): UiMessageChunk[] {
  const file = fileOf(part, fileUrl);
  if (file) return [{ type: "file", url: file.url, mediaType: file.mimeType, ...tag(id) }];
  const delta = contentWords([part], fileUrl);
  if (delta === "") return [];
  return [
    { type: "text-start", id, ...tag(id) },
    { type: "text-delta", id, delta },
    { type: "text-end", id },
  ];
}

/** A client fails on the result of a call that it was not told of. */
export function tellResult(
  { tool_call_id: toolCallId = "", content, status }: FoldMessage,
  answer: readonly FoldMessage[],
  fileUrl: FileUrl | undefined,
): UiMessageChunk[] {
  const isKnown = answer.some(({ tool_calls }) => tool_calls?.some(({ id }) => id === toolCallId));
  if (!isKnown) return [];
  const words = contentWords(content, fileUrl);
  return status === "error"
    ? [{ type: "tool-output-error", toolCallId, errorText: words, dynamic: true }]
    : [{ type: "tool-output-available", toolCallId, output: words, dynamic: true }];
}

export function tellQuestion(asked: Interrupt, status: "open" | "answered"): UiMessageChunk {
  return { type: "data-question", id: asked.interrupt_id, data: { ...toAgUiInterrupt(asked), status } };
}

/** Ends what was told of these. */
export function endMessages(
  { openMessages }: ThreadFold,
  isEnding: (open: OpenMessage) => boolean = () => true,
): UiMessageChunk[] {
  const told = openMessages.filter(isTold);
  const ending = told.filter(isEnding);
  if (ending.length === 0) return [];
  const chunks = ending.flatMap((open): UiMessageChunk[] => {
    const id = open.message_id;
    return [
      ...(open.reasoning_open ? [{ type: "reasoning-end" as const, id }] : []),
      ...open.tool_calls.filter(({ closed }) => !closed).map((call) => inputAvailable(call, id)),
      ...(isTextOpen(open) ? [{ type: "text-end" as const, id }] : []),
    ];
  });
  // It makes clients forget what is open, so it waits for messages that are written side by side.
  return ending.length === told.length ? [...chunks, { type: "finish-step" }] : chunks;
}

/** Something was told of it since it was opened, which must be ended. */
export function isTold(open: OpenMessage): boolean {
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

/** The arguments of a call that was cut short are no JSON: then their text is all there is. */
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
