import { jsonObjectSchema, runConfigSchema, threadNameSchema } from "@throughline/ai-core";
import { z } from "zod";

const MAX_MESSAGE_CHARACTERS = 100_000;
const MAX_JITTER_MS = 3_600_000;

const OVERLAP_POLICIES = ["skip", "enqueue"] as const;
const MISSED_POLICIES = ["skip", "run_once"] as const;

const inputSchema = z.strictObject({
  message: z
    .string()
    .min(1)
    .max(MAX_MESSAGE_CHARACTERS)
    .optional()
    .describe("Said to the agent as a user's."),
  state: jsonObjectSchema.optional().describe("Applied as far as the agent's input schema knows its keys."),
  command: z
    .strictObject({ name: z.string().min(1).max(128), args: jsonObjectSchema.optional() })
    .optional()
    .describe("One of the agent's own commands."),
});

const fields = {
  agent: z.string().min(1).max(138).describe("`langgraph:sentinel`, or plain `sentinel`."),
  threadName: threadNameSchema
    .nullable()
    .describe("The thread every tick runs in; null gives each tick a thread of its own."),
  schedule: z
    .string()
    .min(1)
    .max(200)
    .describe("Cron syntax with five fields, six with seconds first, or `every 10 s`."),
  timeZone: z.string().min(1).max(64).describe("An IANA name. Intervals do not depend on it."),
  input: inputSchema,
  model: z.string().min(1).max(128).nullable().describe("null: the service's own choice."),
  config: runConfigSchema
    .nullish()
    .describe("Recursion limit, tags, metadata and the graph's configuration of its runs."),
  overlap: z
    .enum(OVERLAP_POLICIES)
    .describe("What becomes of a tick whose thread is busy: left out, or run when its turn comes."),
  missed: z
    .enum(MISSED_POLICIES)
    .describe("What becomes of missed ticks: left out, or run once for all of them."),
  jitterMs: z
    .number()
    .int()
    .min(0)
    .max(MAX_JITTER_MS)
    .describe("Ticks start up to this much later, each by an amount of its own."),
  enabled: z.boolean(),
};

/** The editable part of a cron. As stored: complete. */
export const cronDefinitionSchema = z.strictObject(fields);
export type CronDefinition = z.infer<typeof cronDefinitionSchema>;

export const newCronSchema = z.strictObject({
  ...fields,
  threadName: fields.threadName.default(null),
  timeZone: fields.timeZone.default("UTC"),
  input: fields.input.default({}),
  model: fields.model.default(null),
  overlap: fields.overlap.default("skip"),
  missed: fields.missed.default("skip"),
  jitterMs: fields.jitterMs.default(0),
  enabled: fields.enabled.default(true),
});

export const cronChangeSchema = cronDefinitionSchema
  .partial()
  .refine((change) => Object.keys(change).length > 0, "names nothing to change")
  .meta({ minProperties: 1 });
export type CronChange = z.infer<typeof cronChangeSchema>;

/** The schedule part of a definition. */
export const cronPreviewSchema = z.strictObject({
  schedule: fields.schedule,
  timeZone: fields.timeZone.default("UTC"),
  count: z.number().int().min(1).max(100).default(5),
});
