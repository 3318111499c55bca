import type { JsonObject, Message } from "@throughline/ai-core";
import { currentMessages, type ProjectedMessage, type ThreadProjection } from "../../fold/thread-fold.js";
import { contentText, type FileUrl, fileOf } from "../media-words.js";
import { interruptChunk, messageChunks, replyId } from "./answer.js";
import type { Tag, UiMessageChunk } from "./chunk.js";

/** A message as `useChat` stores it: a user message, or the whole reply to it. */
export interface UiMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly JsonObject[];
}

/** A thread's messages, for a client that begins with them. Streaming messages are included up to here; none is left open. */
export function uiMessages(projection: ThreadProjection, fileUrl?: FileUrl): UiMessage[] {
  const messages: UiMessage[] = [];
  let userMessageId: string | undefined;
  let reply: ProjectedMessage[] = [];
  const closeReply = () => {
    const parts = partsOf(messageChunks(reply, reply, { fileUrl, open: [] }));
    if (parts.length > 0) messages.push({ id: replyId(userMessageId), role: "assistant", parts });
    reply = [];
  };
  for (const message of currentMessages(projection)) {
    if (message.role === "user") {
      closeReply();
      userMessageId = message.id;
      messages.push({ id: message.id, role: "user", parts: userParts(message, fileUrl) });
    } else if (message.subagent_id === undefined && (message.role === "assistant" || message.role === "tool"))
      reply.push(message);
  }
  closeReply();
  return withInterrupts(messages, projection, userMessageId);
}

/** Appends the open interrupts to the last reply, as the stream does. */
function withInterrupts(
  messages: UiMessage[],
  projection: ThreadProjection,
  userMessageId: string | undefined,
): UiMessage[] {
  if (projection.interrupts.length === 0) return messages;
  const interruptParts = partsOf(projection.interrupts.map((open) => interruptChunk(open, "open")));
  const last = messages.at(-1);
  if (last?.role !== "assistant")
    return [...messages, { id: replyId(userMessageId), role: "assistant", parts: interruptParts }];
  return [...messages.slice(0, -1), { ...last, parts: [...last.parts, ...interruptParts] }];
}

/** The parts that a client has after it received these chunks: whole messages, none open. */
function partsOf(chunks: readonly UiMessageChunk[]): JsonObject[] {
  const parts: JsonObject[] = [];
  const calls = new Map<string, JsonObject>();
  for (const chunk of chunks) {
    switch (chunk.type) {
      case "start-step":
        parts.push({ type: "step-start" });
        break;
      case "text-start":
        parts.push({ type: "text", text: "", state: "done", providerMetadata: metadata(chunk) });
        break;
      case "reasoning-start":
        parts.push({
          type: "reasoning",
          id: chunk.id,
          text: "",
          state: "done",
          providerMetadata: metadata(chunk),
        });
        break;
      case "text-delta":
      case "reasoning-delta":
        Object.assign(parts.at(-1) ?? {}, { text: chunk.delta });
        break;
      case "file":
        parts.push({
          type: "file",
          url: chunk.url,
          mediaType: chunk.mediaType,
          providerMetadata: metadata(chunk),
        });
        break;
      case "tool-input-available": {
        const { toolCallId, toolName, input } = chunk;
        const part: JsonObject = {
          type: "dynamic-tool",
          toolCallId,
          toolName,
          state: "input-available",
          input,
        };
        part.callProviderMetadata = metadata(chunk);
        parts.push(part);
        calls.set(toolCallId, part);
        break;
      }
      case "tool-output-available":
        Object.assign(calls.get(chunk.toolCallId) ?? {}, { state: "output-available", output: chunk.output });
        break;
      case "tool-output-error":
        Object.assign(calls.get(chunk.toolCallId) ?? {}, {
          state: "output-error",
          errorText: chunk.errorText,
        });
        break;
      case "data-question":
        parts.push({ type: chunk.type, id: chunk.id, data: chunk.data });
        break;
      default:
        break;
    }
  }
  return parts;
}

function metadata({ providerMetadata }: Tag): JsonObject {
  return { throughline: { ...providerMetadata.throughline } };
}

function userParts({ content }: Message, fileUrl: FileUrl | undefined): JsonObject[] {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return parts.map((part) => {
    const file = fileOf(part, fileUrl);
    if (!file) return { type: "text", text: contentText([part], fileUrl) };
    const { url, mimeType: mediaType, name: filename } = file;
    return { type: "file", url, mediaType, ...(filename !== undefined && { filename }) };
  });
}
