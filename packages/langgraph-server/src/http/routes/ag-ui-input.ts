import { randomUUID } from "node:crypto";
import {
  attachmentUrl,
  type ContentPart,
  isPrintable,
  type Message,
  PRINTABLE_PATTERN,
} from "@throughline/ai-core";
import { z } from "zod";
import { blockTypeOf } from "../../attachments/media-types.js";

export const messageIdSchema = z
  .string()
  .min(1)
  .max(512)
  .refine(isPrintable, "must be well-formed text without control characters")
  .meta({ pattern: PRINTABLE_PATTERN });

/** URLs that a model or this server can open. Which of them a new message may name is checked when the run starts. */
export const mediaUrlSchema = z
  .string()
  .refine(
    (url) => /^(?:https?|data|throughline):/i.test(url),
    "must begin with https:, data: or throughline:",
  );
export const filenameSchema = z.string().max(512);
export const mimeTypeSchema = z.string().max(256);

const sourceSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("data"), value: z.string(), mimeType: mimeTypeSchema.optional() }),
  z.object({ type: z.literal("url"), value: mediaUrlSchema, mimeType: mimeTypeSchema.optional() }),
]);

const partSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z
    .object({
      type: z.literal("binary"),
      mimeType: mimeTypeSchema,
      /** The id of an attachment that was uploaded before. */
      id: z.string().max(256).optional(),
      url: mediaUrlSchema.optional(),
      data: z.string().optional(),
      filename: filenameSchema.optional(),
    })
    .refine(({ id, url, data }) => (id ?? url ?? data) !== undefined, "must have an id, a url or data"),
  z.object({
    type: z.enum(["image", "audio", "video", "document"]),
    source: sourceSchema,
    metadata: z.object({ filename: filenameSchema.optional().catch(undefined) }).nullish(),
  }),
]);
type AgUiPart = z.infer<typeof partSchema>;

const contentSchema = z.union([z.string(), z.array(partSchema)]);

const toolCallSchema = z.object({
  id: messageIdSchema,
  function: z.object({ name: z.string().min(1).max(256), arguments: z.string() }),
});

/** A message as AG-UI clients store it. Reasoning and activities are for people: they are never sent back to a graph. */
export const agUiMessageSchema = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), id: messageIdSchema.optional(), content: contentSchema }),
  z.object({ role: z.enum(["system", "developer"]), id: messageIdSchema.optional(), content: z.string() }),
  z.object({
    role: z.literal("assistant"),
    id: messageIdSchema.optional(),
    content: contentSchema.nullish(),
    toolCalls: z.array(toolCallSchema).nullish(),
  }),
  z.object({
    role: z.literal("tool"),
    id: messageIdSchema.optional(),
    toolCallId: messageIdSchema,
    content: contentSchema,
    error: z.string().nullish(),
  }),
  z.object({ role: z.enum(["reasoning", "activity"]) }),
]);
export type AgUiMessage = z.infer<typeof agUiMessageSchema>;

/** Converts messages, in order. One without an id gets one: it is new by definition. */
export function toMessages(messages: readonly AgUiMessage[]): Message[] {
  return messages.filter(isSpoken).map((message) => {
    const base = {
      id: message.id ?? randomUUID(),
      role: message.role,
      content: toContent(message.content ?? ""),
    };
    if (message.role === "assistant" && message.toolCalls && message.toolCalls.length > 0) {
      const calls = message.toolCalls.map(({ id, function: { name, arguments: args } }) => ({
        id,
        name,
        args,
      }));
      return { ...base, tool_calls: calls };
    }
    if (message.role === "tool") {
      return {
        ...base,
        tool_call_id: message.toolCallId,
        ...(message.error && { status: "error" as const }),
      };
    }
    return base;
  });
}

function isSpoken(message: AgUiMessage): message is Exclude<AgUiMessage, { role: "reasoning" | "activity" }> {
  return message.role !== "reasoning" && message.role !== "activity";
}

/** Counts the parts of a request's messages; plain text counts as one. */
export function countParts(messages: readonly AgUiMessage[]): number {
  let parts = 0;
  for (const message of messages) {
    parts += "content" in message && Array.isArray(message.content) ? message.content.length : 1;
  }
  return parts;
}

function toContent(content: string | readonly AgUiPart[]): string | ContentPart[] {
  return typeof content === "string" ? content : content.map(toPart);
}

/** Converts content to LangChain's form. Parts with bytes are stored and replaced by a reference before anything else sees them. */
function toPart(part: AgUiPart): ContentPart {
  if (part.type === "text") return { type: "text", text: part.text };
  const { mimeType, url, data, filename } = part.type === "binary" ? binary(part) : sourced(part);
  const inline = data === undefined ? dataUrl(url) : { data, mimeType };
  const type = inline?.mimeType ?? mimeType ?? "";
  // Every model accepts an image by URL in this form; few accept another.
  if (!inline && /^https?:/i.test(url ?? "") && (part.type === "image" || type.startsWith("image/"))) {
    return { type: "image_url", image_url: { url } };
  }
  return {
    type: blockTypeOf(type),
    ...(inline ? { source_type: "base64", data: inline.data } : { source_type: "url", url }),
    ...(type !== "" && { mime_type: type }),
    ...(filename !== undefined && { metadata: { filename } }),
  };
}

interface Media {
  readonly mimeType: string | undefined;
  readonly url: string | undefined;
  readonly data: string | undefined;
  readonly filename: string | undefined;
}

function binary({ mimeType, id, url, data, filename }: Extract<AgUiPart, { type: "binary" }>): Media {
  return { mimeType, url: id === undefined ? url : attachmentUrl(id), data, filename };
}

function sourced({ type: kind, source, metadata }: Extract<AgUiPart, { source: unknown }>): Media {
  const { type, value, mimeType = kind === "image" && type === "data" ? "image/png" : undefined } = source;
  return {
    mimeType,
    url: type === "url" ? value : undefined,
    data: type === "data" ? value : undefined,
    filename: metadata?.filename,
  };
}

/** Parses a data URL. One that is not in base64 is percent-encoded text. */
function dataUrl(url: string | undefined): { readonly data: string; readonly mimeType: string } | undefined {
  const found = /^data:([^,]*?)(;base64)?,(.*)$/is.exec(url ?? "");
  if (!found) return undefined;
  const [, mimeType = "", isBase64, body = ""] = found;
  const data = isBase64 ? body : Buffer.from(decodeSafely(body)).toString("base64");
  return { data, mimeType: mimeType === "" ? "text/plain" : mimeType };
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
