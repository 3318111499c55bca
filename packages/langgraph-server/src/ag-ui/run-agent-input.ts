import { isPrintable, PRINTABLE_PATTERN, threadNameSchema } from "@throughline/ai-core";
import { z } from "zod";
import { parsedJson, parsedObject } from "../http/parsed-json.js";
import { agUiMessageSchema } from "./ag-ui-message.js";
import { forwardedPropsSchema } from "./forwarded-props.js";

/** Goes into logs, cursors and rows of ours. */
export const runIdSchema = z
  .string()
  .min(1)
  .max(256)
  .refine(isPrintable, "must be well-formed text without control characters")
  .meta({ pattern: PRINTABLE_PATTERN });

export const resumeEntrySchema = z.object({
  interruptId: z.string().min(1).max(512),
  status: z.enum(["resolved", "cancelled"]),
  payload: parsedJson.optional(),
});

export const toolSchema = z.object({
  name: z.string().min(1).max(256),
  description: z.string().nullish(),
  parameters: parsedObject.nullish(),
});

export const contextSchema = z.object({ description: z.string(), value: parsedJson });

/**
 * AG-UI's `RunAgentInput` as either live line sends it, and a little more lenient: what a hand-written request leaves out
 * has a default. A missing `threadId` is let through, because stock clients only see failures that come as events.
 */
export const runAgentInputSchema = z.object({
  threadId: z
    .union([z.literal(""), threadNameSchema])
    .nullish()
    .describe("The thread's name. Missing or empty, the stream says so in a RUN_ERROR."),
  runId: runIdSchema
    .nullish()
    .describe("The client's own name of the run: the same again attaches to the same run."),
  protocolVersion: z.string().max(32).nullish().describe("Of AG-UI. Absent means the 0.0 line."),
  state: parsedObject
    .nullish()
    .describe("Applied at the run's start as far as the agent's input schema knows its keys."),
  messages: z.array(agUiMessageSchema).nullish().describe("Those whose id the thread does not hold are new."),
  tools: z.array(toolSchema).nullish().describe("What the frontend offers to run itself."),
  context: z.array(contextSchema).nullish().describe("Facts the frontend shares with the agent."),
  forwardedProps: forwardedPropsSchema.nullish(),
  resume: z.array(resumeEntrySchema).nullish().describe("Answers to the questions that wait."),
  lastSeenEventId: z
    .union([z.string().max(512), z.number()])
    .nullish()
    .describe("As the `Last-Event-ID` header, which goes first."),
});
export type RunAgentInput = z.infer<typeof runAgentInputSchema>;
