import type { ContentPart, JsonObject, Message } from "@throughline/ai-core";
import { isJsonObject, textOfPart } from "@throughline/coerce";
import {
  currentMessages,
  type OpenMessage,
  type ProjectedMessage,
  runTag,
  type ThreadProjection,
} from "../../fold/thread-fold.js";
import { contentText, type FileUrl, fetchable } from "../media-words.js";
import type { AgUiVersion } from "./event.js";

/** Options of the encoding of messages. */
export interface MessageForm {
  readonly line: AgUiVersion;
  /** Each message names its run. */
  readonly calls?: boolean;
  /** Maps attachments to URLs that clients can fetch; else messages have their internal URLs. */
  readonly fileUrl?: FileUrl | undefined;
}

export function reasoningId(messageId: string): string {
  return `${messageId}/reasoning`;
}

/**
 * Whether subagents' messages are encoded as such. They are not part of the conversation, and only 1.0 has fields for them.
 * It allows a subagent one life in a run, so in a recovered run, where subagents restart, the fields are not used.
 */
export function showsSubagents({ run }: ThreadProjection, line: AgUiVersion): boolean {
  return line === "1.0" && (run?.attempt ?? 0) === 0;
}

/** Encodes a thread's messages for a snapshot, including partial text and arguments; with `calls`, each names its run. */
export function snapshotMessages(
  projection: ThreadProjection,
  { line, calls: runs = false, fileUrl }: MessageForm,
): JsonObject[] {
  const nests = showsSubagents(projection, line);
  const listed = new Set(projection.messages.map((message) => message.id));
  const bare = projection.openMessages.filter(
    (open) => !listed.has(open.message_id) && open.reasoning !== "",
  );
  return [
    ...currentMessages(projection).flatMap((message) =>
      message.subagent_id === undefined || (line === "1.0" && !message.unshown)
        ? toAgUiMessages(message, fileUrl).map((encoded) => (runs ? withRun(encoded, message) : encoded))
        : [],
    ),
    ...bare
      .filter((open) => open.subagent_id === null || nests)
      .map((open) => (runs ? withRun(reasoningOf(open), runTag(projection)) : reasoningOf(open))),
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

function toAgUiMessages(message: ProjectedMessage, fileUrl: FileUrl | undefined): JsonObject[] {
  const owner = message.subagent_id === undefined ? {} : { subagentRunId: message.subagent_id };
  const shown = message.bare ? [] : [{ ...toAgUiMessage(message, fileUrl), ...owner }];
  if (message.reasoning === undefined) return shown;
  return [{ id: reasoningId(message.id), role: "reasoning", content: message.reasoning, ...owner }, ...shown];
}

function withRun(message: JsonObject, { run_id }: Pick<ProjectedMessage, "run_id">): JsonObject {
  if (run_id === undefined) return message;
  return {
    ...message,
    metadata: { throughline: { ...(message.metadata && FAILED.throughline), runId: run_id } },
  };
}

/** Marks the result of a failed tool: the protocol's own event has no field for it. */
export const FAILED = { throughline: { status: "error" } } as const;

export function toAgUiMessage(message: Message, fileUrl?: FileUrl): JsonObject {
  const base: JsonObject = { id: message.id, role: message.role };
  if (message.name !== undefined && message.role !== "tool") base.name = message.name;
  switch (message.role) {
    case "assistant": {
      const text = contentText(message.content, fileUrl);
      // A client that received only streamed calls has a message without content; a snapshot must equal it.
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
        content: contentText(message.content, fileUrl),
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
      return { ...base, content: contentText(message.content, fileUrl) };
  }
}

/** Encodes a part of a user message. Both protocol versions take media by URL; others become text: bytes are in no frame. */
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
