import { dialectSchema, runConfigSchema } from "@throughline/ai-core";
import { z } from "zod";
import { parsedJson, parsedObject } from "../http/parsed-json.js";
import { threadVisibilitySchema } from "../thread/visibility.js";

/** R29: a wish that is not state. */
const commandSchema = z.strictObject({
  name: z.string().min(1).max(128),
  clientMutationId: z.string().min(1).max(256).optional(),
  args: parsedObject.optional(),
});

/** What a request may ask of us beyond AG-UI. Unknown keys are refused: a misspelt option must not be ignored. */
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
export const forwardedPropsSchema = z.object({
  throughline: throughlineSchema.optional(),
  /** The legacy answer to an interrupt. Other commands of LangGraph (`goto`, `update`) are not for clients. */
  command: z
    .object({ resume: parsedJson.optional(), interruptId: z.string().min(1).max(512).optional() })
    .nullish(),
});
