import { MessagesValue, ReducedValue, StateSchema, UntrackedValue } from "@langchain/langgraph";
import { z } from "zod";
import { sentCommandSchema } from "./command.js";

export const settingsSchema = z.object({
  /** The things that a cycle reads, in this order. */
  watch: z.array(z.string().min(1).max(80)).max(12),
  /** The interval at which cycles should be scheduled. */
  cycleSeconds: z.number().int().min(1).max(86_400),
  /** The duration of a cycle. */
  durationMs: z.number().int().min(0).max(600_000),
});
export type Settings = z.infer<typeof settingsSchema>;
export const settingsPatchSchema = settingsSchema.partial();

const DEFAULT_SETTINGS: Settings = {
  watch: ["service health", "error rate"],
  cycleSeconds: 60,
  durationMs: 3000,
};

export const reportSchema = z.object({
  cycle: z.number().int(),
  readings: z.array(z.object({ name: z.string(), value: z.number() })),
  text: z.string(),
});
export type Report = z.infer<typeof reportSchema>;

export const logEntrySchema = z.object({
  command: z.string(),
  outcome: z.enum(["done", "refused"]),
  note: z.string(),
  /** The reason of a refusal, for a page that offers a remedy. */
  code: z.enum(["not_hired", "already_hired"]).optional(),
});
export type LogEntry = z.infer<typeof logEntrySchema>;

export const LOG_LIMIT = 20;

export const lifecycleSchema = z.enum(["idle", "hired", "fired"]);

const settings = new ReducedValue(
  settingsSchema.default(() => DEFAULT_SETTINGS),
  {
    inputSchema: settingsPatchSchema,
    reducer: (current, patch) => ({
      watch: patch.watch ?? current.watch,
      cycleSeconds: patch.cycleSeconds ?? current.cycleSeconds,
      durationMs: patch.durationMs ?? current.durationMs,
    }),
  },
);

export const SentinelState = new StateSchema({
  messages: MessagesValue,
  lifecycle: lifecycleSchema.default("idle"),
  settings,
  lastAppliedClientMutationId: z.string().nullable().default(null),
  /** Cycles completed since the last hire. */
  cycleCount: z.number().int().default(0),
  lastReport: reportSchema.nullable().default(null),
  log: new ReducedValue(
    z.array(logEntrySchema).default(() => []),
    { inputSchema: logEntrySchema, reducer: (current, entry) => [...current, entry].slice(-LOG_LIMIT) },
  ),
});
export type SentinelStateValue = typeof SentinelState.State;
export type SentinelUpdate = typeof SentinelState.Update;

/**
 * A command is control input, not something a page may render. So it is a channel of the input alone, and untracked:
 * neither the output nor any checkpoint's values hold it.
 */
export const SentinelInput = new StateSchema({
  messages: MessagesValue,
  settings,
  command: new UntrackedValue(sentCommandSchema),
});
