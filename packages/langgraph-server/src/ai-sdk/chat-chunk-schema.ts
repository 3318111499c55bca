import { jsonObjectSchema, jsonSchema } from "@throughline/ai-core";
import type { UiMessageChunk } from "@throughline/reading";
import { z } from "zod";

const id = { id: z.string() };
const delta = { ...id, delta: z.string() };
const tag = { providerMetadata: jsonObjectSchema };
const tool = { toolCallId: z.string(), dynamic: z.literal(true) };
const named = { ...tool, ...tag, toolName: z.string() };
const metadata = { messageMetadata: jsonObjectSchema };
const transient = { transient: z.literal(true) };

function chunk<const Type extends UiMessageChunk["type"], Shape extends z.ZodRawShape>(
  type: Type,
  shape: Shape,
) {
  return z.object({ type: z.literal(type), ...shape });
}

/** The AI SDK's chunks as this server writes them. Nothing is parsed with it: the face's own types make them. */
export const chatChunkSchema = z.discriminatedUnion("type", [
  chunk("start", { messageId: z.string(), ...metadata }),
  chunk("start-step", {}),
  chunk("finish-step", {}),
  chunk("text-start", { ...id, ...tag }),
  chunk("text-delta", delta),
  chunk("text-end", id),
  chunk("reasoning-start", { ...id, ...tag }),
  chunk("reasoning-delta", delta),
  chunk("reasoning-end", id),
  chunk("file", { url: z.string(), mediaType: z.string(), ...tag }),
  chunk("tool-input-start", named),
  chunk("tool-input-delta", { toolCallId: z.string(), inputTextDelta: z.string() }),
  chunk("tool-input-available", { ...named, input: jsonSchema }),
  chunk("tool-output-available", { ...tool, output: jsonSchema }),
  chunk("tool-output-error", { ...tool, errorText: z.string() }),
  chunk("data-question", { ...id, data: jsonObjectSchema }),
  chunk("data-retracted", { data: z.object({ messageIds: z.array(z.string()) }) }),
  chunk("data-state", { data: jsonObjectSchema, ...transient }),
  chunk("data-state-delta", { data: z.array(jsonObjectSchema), ...transient }),
  chunk("data-custom", { data: z.object({ name: z.string(), value: jsonSchema }), ...transient }),
  chunk("message-metadata", metadata),
  chunk("finish", { finishReason: z.enum(["stop", "other"]), ...metadata }),
  chunk("abort", { reason: z.string() }),
  chunk("error", { errorText: z.string() }),
]);

export const chatMessagesSchema = z.object({
  messages: z.array(
    z.object({ id: z.string(), role: z.enum(["user", "assistant"]), parts: z.array(jsonObjectSchema) }),
  ),
  isRunning: z.boolean().describe("A run is open: its stream shows the last answer whole, and goes on."),
  cursor: z.string().nullable().describe("Where the thread stands, for the stream's `since`."),
});
