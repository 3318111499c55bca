import { jsonObjectSchema, jsonSchema, patchOperationSchema } from "@throughline/ai-core";
import type { AgUiEvent, UiMessageChunk } from "@throughline/reading";
import { z } from "zod";

const common = { metadata: jsonObjectSchema.optional(), subagentRunId: z.string().optional() };
const message = { messageId: z.string() };
const run = { threadId: z.string(), runId: z.string() };
const toolCall = { toolCallId: z.string() };
const subagent = { subagentRunId: z.string() };

const outcomeSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("success") }),
  z.object({ type: z.literal("interrupt"), interrupts: z.array(jsonObjectSchema) }),
  z.object({ type: z.literal("cancelled") }),
]);

const usageSchema = z.object({
  model: z.string().optional(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  totalTokens: z.number(),
});

function event<const Type extends AgUiEvent["type"], Shape extends z.ZodRawShape>(type: Type, shape: Shape) {
  return z.object({ type: z.literal(type), ...common, ...shape });
}

/** The events of AG-UI as this server writes them, for OpenAPI only: the encoder's own types create them. */
export const agUiEventSchema = z.discriminatedUnion("type", [
  event("RUN_STARTED", { ...run, input: jsonObjectSchema.optional() }),
  event("RUN_FINISHED", {
    ...run,
    outcome: outcomeSchema.optional(),
    usage: z.array(usageSchema).optional(),
  }),
  event("RUN_ERROR", { message: z.string(), code: z.string() }),
  event("STEP_STARTED", { stepName: z.string() }),
  event("STEP_FINISHED", { stepName: z.string() }),
  event("TEXT_MESSAGE_START", { ...message, role: z.literal("assistant") }),
  event("TEXT_MESSAGE_CONTENT", { ...message, delta: z.string() }),
  event("TEXT_MESSAGE_END", message),
  event("REASONING_START", message),
  event("REASONING_END", message),
  event("REASONING_MESSAGE_START", { ...message, role: z.literal("reasoning") }),
  event("REASONING_MESSAGE_CONTENT", { ...message, delta: z.string() }),
  event("REASONING_MESSAGE_END", message),
  event("TOOL_CALL_START", { ...toolCall, toolCallName: z.string(), parentMessageId: z.string() }),
  event("TOOL_CALL_ARGS", { ...toolCall, delta: z.string() }),
  event("TOOL_CALL_END", toolCall),
  event("TOOL_CALL_RESULT", { ...toolCall, ...message, content: z.string(), role: z.literal("tool") }),
  event("STATE_SNAPSHOT", { snapshot: jsonObjectSchema }),
  event("STATE_DELTA", { delta: z.array(patchOperationSchema) }),
  event("MESSAGES_SNAPSHOT", { messages: z.array(jsonObjectSchema) }),
  event("CUSTOM", { name: z.string(), value: jsonSchema }),
  event("SUBAGENT_STARTED", {
    ...subagent,
    name: z.string(),
    parentSubagentRunId: z.string().optional(),
    parentToolCallId: z.string().optional(),
  }),
  event("SUBAGENT_FINISHED", {
    ...subagent,
    outcome: z.object({ type: z.enum(["success", "suspended"]) }).optional(),
  }),
  event("SUBAGENT_ERROR", { ...subagent, message: z.string() }),
]);

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

/** The AI SDK's chunks as this server writes them, for OpenAPI only: the encoder's own types create them. */
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
