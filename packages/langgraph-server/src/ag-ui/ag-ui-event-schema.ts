import { jsonObjectSchema, jsonSchema, patchOperationSchema } from "@throughline/ai-core";
import type { AgUiEvent } from "@throughline/reading";
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

/** The events of AG-UI as this server writes them. Nothing is parsed with it: the face's own types make them. */
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
