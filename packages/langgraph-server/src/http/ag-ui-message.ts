import { randomUUID } from "node:crypto";
import { type ContentPart, isPrintable, type Message } from "@throughline/ai-core";
import { z } from "zod";

const idSchema = z
  .string()
  .min(1)
  .max(512)
  .refine(isPrintable, "must be well-formed text without control characters");

const sourceSchema = z.object({
  type: z.enum(["data", "url"]),
  value: z.string(),
  mimeType: z.string().max(256).optional(),
});

const partSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({
    type: z.literal("binary"),
    mimeType: z.string().max(256),
    url: z.string().optional(),
    data: z.string().optional(),
    filename: z.string().max(512).optional(),
  }),
  z.object({ type: z.enum(["image", "audio", "video", "document"]), source: sourceSchema }),
]);
type AgUiPart = z.infer<typeof partSchema>;

const contentSchema = z.union([z.string(), z.array(partSchema)]);

const toolCallSchema = z.object({
  id: idSchema,
  function: z.object({ name: z.string().min(1).max(256), arguments: z.string() }),
});

/** A message as AG-UI clients keep it. Thoughts and activities are for people: they never go back to a graph. */
export const agUiMessageSchema = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), id: idSchema.optional(), content: contentSchema }),
  z.object({ role: z.enum(["system", "developer"]), id: idSchema.optional(), content: z.string() }),
  z.object({
    role: z.literal("assistant"),
    id: idSchema.optional(),
    content: contentSchema.nullish(),
    toolCalls: z.array(toolCallSchema).nullish(),
  }),
  z.object({
    role: z.literal("tool"),
    id: idSchema.optional(),
    toolCallId: idSchema,
    content: contentSchema,
    error: z.string().nullish(),
  }),
  z.object({ role: z.enum(["reasoning", "activity"]) }),
]);
export type AgUiMessage = z.infer<typeof agUiMessageSchema>;

/** Messages of the conversation, in order. One without an id gets one: it is new by definition. */
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

/** How many parts a request's messages have, text alone counting as one. */
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

/** As models take it: images by URL, where a data URL counts as one, and everything else as a block with its kind. */
function toPart(part: AgUiPart): ContentPart {
  if (part.type === "text") return { type: "text", text: part.text };
  const { kind, mimeType, url, data } = part.type === "binary" ? binary(part) : sourced(part);
  if (kind === "image") {
    return {
      type: "image_url",
      image_url: { url: url ?? `data:${mimeType ?? "image/png"};base64,${data ?? ""}` },
    };
  }
  return {
    type: kind,
    ...(mimeType !== undefined && { mimeType }),
    ...(url === undefined ? { data } : { url }),
  };
}

interface Media {
  readonly kind: string;
  readonly mimeType: string | undefined;
  readonly url: string | undefined;
  readonly data: string | undefined;
}

function binary(part: Extract<AgUiPart, { type: "binary" }>): Media {
  const [family = ""] = part.mimeType.split("/");
  const kind = ["image", "audio", "video"].includes(family) ? family : "file";
  return { kind, mimeType: part.mimeType, url: part.url, data: part.data };
}

function sourced(part: Extract<AgUiPart, { source: unknown }>): Media {
  const { type, value, mimeType } = part.source;
  const kind = part.type === "document" ? "file" : part.type;
  return {
    kind,
    mimeType,
    url: type === "url" ? value : undefined,
    data: type === "data" ? value : undefined,
  };
}
