import * as z from "zod/mini";

const jsonObject = z.record(z.string(), z.json());

const outcomeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("pending") }),
  z.object({ kind: z.literal("started"), runId: z.string() }),
  z.object({ kind: z.literal("skipped"), reason: z.enum(["busy", "interrupt_pending"]) }),
  z.object({ kind: z.literal("failed"), code: z.string(), message: z.string() }),
  z.object({ kind: z.literal("missed") }),
]);

export const tickSchema = z.object({
  id: z.string(),
  scheduledAt: z.string(),
  claimedAt: z.string(),
  agent: z.string(),
  threadName: z.string(),
  missed: z.number(),
  outcome: outcomeSchema,
  runStatus: z.nullable(
    z.enum(["queued", "running", "success", "interrupted", "cancelled", "error", "lost"]),
  ),
});

const inputSchema = z.object({
  message: z.optional(z.string()),
  state: z.optional(jsonObject),
  command: z.optional(z.object({ name: z.string(), args: z.optional(jsonObject) })),
});

export const cronSchema = z.object({
  id: z.string(),
  agent: z.string(),
  threadName: z.nullable(z.string()),
  schedule: z.string(),
  timeZone: z.string(),
  input: inputSchema,
  model: z.nullable(z.string()),
  overlap: z.enum(["skip", "enqueue"]),
  missed: z.enum(["skip", "run_once"]),
  jitterMs: z.number(),
  enabled: z.boolean(),
  nextAt: z.nullable(z.string()),
  lastTick: z.nullable(tickSchema),
  createdAt: z.string(),
});

/** A schedule of the service's, as it lists it. */
export type Cron = Readonly<z.output<typeof cronSchema>>;
export type CronInput = Readonly<z.output<typeof inputSchema>>;
export type Tick = Readonly<z.output<typeof tickSchema>>;
