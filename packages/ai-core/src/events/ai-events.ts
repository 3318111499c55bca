import { z } from "zod";
import { errorCodeSchema } from "../errors/throughline-error.js";
import { jsonSchema } from "../json/json.js";
import { executorTypeSchema } from "../usage/usage.js";

const usedShape = {
  model: z.string().nullable(),
  inputTokens: z.number().int().nonnegative(),
  outputTokens: z.number().int().nonnegative(),
  /** `null` while no price is known. */
  costUsd: z.number().nonnegative().nullable(),
};

/**
 * The executor-agnostic events of a run: `text_delta* → usage_report → done`, or `error` where it ends early.
 * Exactly one `done` or `error` ends it. Deltas are provisional; `assistant_final` is the text.
 */
export const aiEventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text_delta"), delta: z.string() }),
  z.object({
    type: z.literal("tool_call_start"),
    toolCallId: z.string(),
    toolName: z.string(),
    args: jsonSchema,
  }),
  z.object({
    type: z.literal("tool_call_result"),
    toolCallId: z.string(),
    toolName: z.string(),
    result: jsonSchema,
    isError: z.boolean(),
  }),
  z.object({
    type: z.literal("usage_report"),
    /** The unit of the only call, where the run's usage is one billed call; else `null`, and `calls` lists the calls. */
    usageUnitId: z.string().nullable(),
    ...usedShape,
    /** `false` while the price of a call is not known; absent where nothing is metered. */
    complete: z.boolean().optional(),
    executorType: executorTypeSchema,
    /** The calls that billing has recorded of the run, oldest first, 200 at most; absent where it has none. */
    calls: z.array(z.object({ usageUnitId: z.string(), ...usedShape })).optional(),
  }),
  z.object({ type: z.literal("assistant_final"), content: z.string() }),
  z.object({
    type: z.literal("done"),
    /** Present on a run that waits for an interrupt response, or at a breakpoint, where `interrupts` is empty; else absent. */
    status: z.literal("interrupted").optional(),
    interrupts: z
      .array(z.object({ interruptId: z.string(), value: jsonSchema, responseSchema: jsonSchema.optional() }))
      .optional(),
  }),
  z.object({
    type: z.literal("error"),
    ok: z.literal(false),
    code: errorCodeSchema,
    message: z.string(),
  }),
]);
export type AiEvent = z.infer<typeof aiEventSchema>;
