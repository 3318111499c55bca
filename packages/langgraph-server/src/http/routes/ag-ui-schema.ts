import {
  dialectSchema,
  isPrintable,
  PRINTABLE_PATTERN,
  runConfigSchema,
  threadNameSchema,
} from "@throughline/ai-core";
import { z } from "zod";
import { threadVisibilitySchema } from "../../threads/thread-address.js";
import { parsedJson, parsedObject } from "../bodies.js";
import { agUiMessageSchema } from "./ag-ui-input.js";

/** R29: a command, a request that is not state. */
const commandSchema = z.strictObject({
  name: z.string().min(1).max(128),
  clientMutationId: z.string().min(1).max(256).optional(),
  args: parsedObject.optional(),
});

/** Our options of a request beyond AG-UI. Unknown keys are refused: a misspelt option must not be ignored. */
const throughlineSchema = z.strictObject({
  command: commandSchema
    .optional()
    .describe("A wish that is not state: `sync`, `fire`, `stop`, `poll`, `ask_again` or the agent's own."),
  follow: z.boolean().optional().describe("Of `connect`: stay over many runs."),
  calls: z
    .boolean()
    .optional()
    .describe("Also the tree of runs, nodes, model and tool calls, as `CUSTOM throughline.calls`."),
  links: z
    .boolean()
    .optional()
    .describe(
      "Attachments as links that need no sign-in, valid for one to two hours. Default: unless `calls` is asked for.",
    ),
  /** R15. */
  interrupts: z
    .enum(["legacy", "standard", "both"])
    .optional()
    .describe("How questions are told. By default as the client's protocol line expects."),
  /** R24. */
  strategy: z
    .enum(["reject", "enqueue", "preempt"])
    .optional()
    .describe("What becomes of a run whose thread is busy. Default: reject."),
  profile: z
    .enum(["user", "debug"])
    .optional()
    .describe(
      "`debug` stores every token by itself and shows a graph's own error texts. Only with dev sign-in.",
    ),
  dialect: dialectSchema
    .optional()
    .describe("How the graph's stream is read: its stream modes, or its events. Default: `modes`."),
  visibility: threadVisibilitySchema,
  model: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe("Of `GET /models`. Later runs of the thread that name none use it, too."),
  config: runConfigSchema
    .optional()
    .describe("Recursion limit, tags, metadata and the graph's configuration."),
  fork: z
    .strictObject({ checkpointId: z.string().min(1).max(256) })
    .optional()
    .describe("Runs again from a checkpoint of the past."),
});

/**
 * R29: the whitelist. Everything else is dropped here: `forwardedProps` is where other servers let a client set a graph's
 * `configurable`, and with it another caller's thread.
 */
const forwardedPropsSchema = z.object({
  throughline: throughlineSchema.optional(),
  /** The legacy resume of an interrupt. Other commands of LangGraph (`goto`, `update`) are not for clients. */
  command: z
    .object({ resume: parsedJson.optional(), interruptId: z.string().min(1).max(512).optional() })
    .nullish(),
});

/** An id that is written to our logs, cursors and rows. */
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
 * AG-UI's `RunAgentInput` in either protocol version, and a little more lenient: what a hand-written request leaves out
 * has a default. A missing `threadId` is accepted, because stock clients only see failures that come as events.
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
