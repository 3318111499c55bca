import { z } from "zod";

const throughline = z
  .object({
    throughline: z
      .looseObject({
        status: z.string().optional(),
        attempt: z.number().optional(),
        hint: z.string().optional(),
        /** Of a run that failed: the node that threw. */
        node: z.string().nullish(),
        usage: z
          .looseObject({
            input_tokens: z.number(),
            output_tokens: z.number(),
            model_calls: z.number(),
            cost_usd: z.number().nullish(),
            complete: z.boolean().optional(),
          })
          .optional(),
      })
      .optional(),
  })
  .optional();

const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  source: z.looseObject({ type: z.string(), value: z.string().optional() }).optional(),
  metadata: z.looseObject({ filename: z.string().optional() }).nullish(),
});
const content = z.union([z.string(), z.array(part)]);

const message = z.looseObject({
  id: z.string(),
  role: z.string(),
  content: content.nullish(),
  toolCalls: z
    .array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }))
    .nullish(),
  toolCallId: z.string().nullish(),
  metadata: throughline,
});
export type FrameMessage = z.infer<typeof message>;

const call = z.looseObject({
  runId: z.string(),
  callId: z.string(),
  parentId: z.string().nullable(),
  kind: z.enum(["run", "node", "subgraph", "model", "tool"]),
  name: z.string(),
  attempt: z.number(),
  status: z.string(),
  messageId: z.string().optional(),
  earlier: z.number().optional(),
  error: z.object({ message: z.string() }).optional(),
  startedBy: z.object({ kind: z.string(), id: z.string().optional() }).optional(),
});
export type FrameCall = z.infer<typeof call>;

const interrupt = z.looseObject({
  id: z.string(),
  message: z.string().nullish(),
  metadata: z
    .looseObject({
      langgraph: z.object({ raw: z.unknown(), responseSchema: z.unknown() }).partial().optional(),
    })
    .nullish(),
});
export type FrameInterrupt = z.infer<typeof interrupt>;

/** Questions that a failed run left open, in its metadata. */
export function readInterrupts(value: unknown): readonly FrameInterrupt[] {
  return z.array(interrupt).safeParse(value).data ?? [];
}

/** What of AG-UI's line 1.0 a terminal shows; everything else is passed over. */
const frame = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("RUN_STARTED"),
    runId: z.string(),
    input: z.object({ messages: z.array(message).nullish() }).nullish(),
    metadata: throughline,
  }),
  z.object({ type: z.literal("MESSAGES_SNAPSHOT"), messages: z.array(message) }),
  z.object({ type: z.literal("TEXT_MESSAGE_START"), messageId: z.string() }),
  z.object({ type: z.literal("TEXT_MESSAGE_CONTENT"), messageId: z.string(), delta: z.string() }),
  z.object({ type: z.literal("TEXT_MESSAGE_END"), messageId: z.string() }),
  z.object({ type: z.literal("REASONING_MESSAGE_START"), messageId: z.string() }),
  z.object({ type: z.literal("REASONING_MESSAGE_CONTENT"), messageId: z.string(), delta: z.string() }),
  z.object({ type: z.literal("REASONING_MESSAGE_END"), messageId: z.string() }),
  z.object({
    type: z.literal("TOOL_CALL_START"),
    toolCallId: z.string(),
    toolCallName: z.string(),
    parentMessageId: z.string().nullish(),
  }),
  z.object({ type: z.literal("TOOL_CALL_ARGS"), toolCallId: z.string(), delta: z.string() }),
  z.object({ type: z.literal("TOOL_CALL_END"), toolCallId: z.string() }),
  z.object({
    type: z.literal("TOOL_CALL_RESULT"),
    messageId: z.string(),
    toolCallId: z.string(),
    content,
    metadata: throughline,
  }),
  z.object({ type: z.literal("CUSTOM"), name: z.string(), value: z.unknown() }),
  z.object({
    type: z.literal("RUN_FINISHED"),
    outcome: z.looseObject({ type: z.string(), interrupts: z.array(interrupt).optional() }).nullish(),
    metadata: throughline,
  }),
  z.object({
    type: z.literal("RUN_ERROR"),
    message: z.string(),
    code: z.string().nullish(),
    metadata: throughline,
  }),
]);
export type Frame = z.infer<typeof frame>;

export function readFrame(event: unknown): Frame | undefined {
  return frame.safeParse(event).data;
}

const calls = z.object({
  whole: z.boolean(),
  calls: z.array(call),
  gone: z.array(z.object({ runId: z.string(), callId: z.string() })).default([]),
});
export type ToldCalls = z.infer<typeof calls>;

export function readCalls(value: unknown): ToldCalls | undefined {
  return calls.safeParse(value).data;
}

export function textOf(value: FrameMessage["content"]): string {
  if (typeof value === "string") return value;
  return (value ?? []).map((part) => part.text ?? fileOf(part)).join("\n");
}

/** What it is called and where it lies, as in the texts of assistants and tools. */
function fileOf({ type, source, metadata }: z.infer<typeof part>): string {
  const name = metadata?.filename ?? type;
  return source?.type === "url" && source.value !== undefined ? `[${name}](${source.value})` : `[${name}]`;
}
