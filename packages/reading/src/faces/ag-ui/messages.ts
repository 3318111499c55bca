import type { ContentPart, JsonObject, Message } from "@throughline/ai-core";
import { isJsonObject, textOfPart } from "@throughline/coerce";
import {
  currentMessages,
  type FoldMessage,
  type OpenMessage,
  saidIn,
  type ThreadFold,
} from "../../fold/thread-fold.js";
import { contentWords, type FileUrl, fetchable } from "../media-words.js";
import type { AgUiLine } from "./event.js";

/** How messages are told. */
export interface MessageForm {
  readonly line: AgUiLine;
  /** Each says its run. */
  readonly calls?: boolean;
  /** Where clients fetch attachments; else messages name them by their own address. */
  readonly fileUrl?: FileUrl | undefined;
}

export function reasoningId(messageId: string): string {
  return `${messageId}/reasoning`;
}

/**
 * What a subagent says is no part of the conversation, and only 1.0 has a place for it. It allows a subagent one life in a
 * run, so in a run that was recovered, where subagents start over, the place is not used.
 */
export function showsSubagents({ run }: ThreadFold, line: AgUiLine): boolean {
  return line === "1.0" && (run?.attempt ?? 0) === 0;
}

/** A thread's messages as a snapshot shows them, partial text and arguments included; with `calls`, each says its run. */
export function snapshotMessages(
  fold: ThreadFold,
  { line, calls: runs = false, fileUrl }: MessageForm,
): JsonObject[] {
  const nests = showsSubagents(fold, line);
  const placed = new Set(fold.messages.map((message) => message.id));
  const bare = fold.openMessages.filter((open) => !placed.has(open.message_id) && open.reasoning !== "");
  return [
    ...currentMessages(fold).flatMap((message) =>
      message.subagent_id === undefined || (line === "1.0" && !message.unshown)
        ? toAgUiMessages(message, fileUrl).map((told) => (runs ? withRun(told, message) : told))
        : [],
    ),
    ...bare
      .filter((open) => open.subagent_id === null || nests)
      .map((open) => (runs ? withRun(reasoningOf(open), saidIn(fold)) : reasoningOf(open))),
  ];
}

function reasoningOf(open: OpenMessage): JsonObject {
  return {
    id: reasoningId(open.message_id),
    role: "reasoning",
    content: open.reasoning,
    ...(open.subagent_id !== null && { subagentRunId: open.subagent_id }),
  };
}

function toAgUiMessages(message: FoldMessage, fileUrl: FileUrl | undefined): JsonObject[] {
  const owner = message.subagent_id === undefined ? {} : { subagentRunId: message.subagent_id };
  const shown = message.bare ? [] : [{ ...toAgUiMessage(message, fileUrl), ...owner }];
  if (message.reasoning === undefined) return shown;
  return [{ id: reasoningId(message.id), role: "reasoning", content: message.reasoning, ...owner }, ...shown];
}

function withRun(told: JsonObject, { run_id }: Pick<FoldMessage, "run_id">): JsonObject {
  if (run_id === undefined) return told;
  return { ...told, metadata: { throughline: { ...(told.metadata && FAILED.throughline), runId: run_id } } };
}

/** How a failed tool's result is told apart: the protocol's own event has no field for it. */
export const FAILED = { throughline: { status: "error" } } as const;

export function toAgUiMessage(message: Message, fileUrl?: FileUrl): JsonObject {
  const base: JsonObject = { id: message.id, role: message.role };
  if (message.name !== undefined && message.role !== "tool") base.name = message.name;
  switch (message.role) {
    case "assistant": {
      const text = contentWords(message.content, fileUrl);
      // A client that saw only calls stream has a message without content; a snapshot must not say otherwise.
      if (text !== "" || !message.tool_calls) base.content = text;
      if (message.tool_calls) {
        base.toolCalls = message.tool_calls.map(({ id, name, args }) => ({
          id,
          type: "function",
          function: { name, arguments: args },
        }));
      }
      return base;
    }
    case "tool":
      return {
        ...base,
        toolCallId: message.tool_call_id ?? "",
        content: contentWords(message.content, fileUrl),
        ...(message.status === "error" && { metadata: FAILED }),
      };
    case "user":
      return {
        ...base,
        content:
          typeof message.content === "string"
            ? message.content
            : message.content.map((part) => toInputPart(part, fileUrl)),
      };
    case "system":
    case "developer":
      return { ...base, content: contentWords(message.content, fileUrl) };
  }
}

/** Both lines take media by address. What has none is named in words: bytes are in no frame. */
function toInputPart(part: ContentPart, fileUrl: FileUrl | undefined): JsonObject {
  if (part.type === "text" && typeof part.text === "string") return { type: "text", text: part.text };
  const text = textOfPart(part);
  if (text !== "") return { type: "text", text };
  const url = addressOf(part);
  if (url === undefined || url.startsWith("data:")) return { type: "text", text: `[${part.type}]` };
  const mimeType = typeof part.mime_type === "string" ? part.mime_type : undefined;
  const { metadata } = part;
  return {
    type: mediaKind(part.type, mimeType),
    source: { type: "url", value: fetchable(url, fileUrl), ...(mimeType !== undefined && { mimeType }) },
    ...(isJsonObject(metadata) && { metadata }),
  };
}

function addressOf({ image_url: image, url }: { readonly [key: string]: unknown }): string | undefined {
  const address = isJsonObject(image) ? image.url : (image ?? url);
  return typeof address === "string" ? address : undefined;
}

function mediaKind(type: string, mimeType = ""): string {
  if (type === "image_url") return "image";
  const family = mimeType.split("/", 1)[0] ?? "";
  return ["image", "audio", "video"].find((kind) => kind === family || kind === type) ?? "document";
}
