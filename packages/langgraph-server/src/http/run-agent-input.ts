import { isPrintable, threadNameSchema } from "@throughline/ai-core";
import { z } from "zod";
import { agUiMessageSchema } from "./ag-ui-message.js";
import { forwardedPropsSchema } from "./forwarded-props.js";
import { parsedJson, parsedObject } from "./parsed-json.js";

/** Goes into logs, cursors and rows of ours. */
export const runIdSchema = z
  .string()
  .min(1)
  .max(256)
  .refine(isPrintable, "must be well-formed text without control characters");

const resumeEntrySchema = z.object({
  interruptId: z.string().min(1).max(512),
  status: z.enum(["resolved", "cancelled"]),
  payload: parsedJson.optional(),
});

const toolSchema = z.object({
  name: z.string().min(1).max(256),
  description: z.string().nullish(),
  parameters: parsedObject.nullish(),
});

const contextSchema = z.object({ description: z.string(), value: parsedJson });

/**
 * AG-UI's `RunAgentInput` as either live line sends it, and a little more lenient: what a hand-written request leaves out
 * has a default. A missing `threadId` is let through, because stock clients only see failures that come as events.
 */
export const runAgentInputSchema = z.object({
  threadId: z.union([z.literal(""), threadNameSchema]).nullish(),
  runId: runIdSchema.nullish(),
  protocolVersion: z.string().max(32).nullish(),
  state: parsedObject.nullish(),
  messages: z.array(agUiMessageSchema).nullish(),
  tools: z.array(toolSchema).nullish(),
  context: z.array(contextSchema).nullish(),
  forwardedProps: forwardedPropsSchema.nullish(),
  resume: z.array(resumeEntrySchema).nullish(),
  lastSeenEventId: z.union([z.string().max(512), z.number()]).nullish(),
});
export type RunAgentInput = z.infer<typeof runAgentInputSchema>;
