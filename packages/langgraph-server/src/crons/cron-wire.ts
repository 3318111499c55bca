import { z } from "zod";
import { tickOutcomeSchema } from "./cron.js";
import { cronDefinitionSchema } from "./cron-definition.js";
import type { ShownCron, ShownTick } from "./cron-service.js";

const time = z.iso.datetime();
const RUN_STATUSES = ["queued", "running", "success", "interrupted", "cancelled", "error", "lost"] as const;

export const shownTickSchema = z.object({
  id: z.string(),
  scheduledAt: time,
  claimedAt: time,
  agent: z.string(),
  threadName: z.string(),
  missed: z.number().int().describe("Scheduled times that passed without a run, up to 100."),
  outcome: tickOutcomeSchema,
  runStatus: z
    .enum(RUN_STATUSES)
    .nullable()
    .describe("Of the run it started. null: it started none, or the run is gone."),
});

export const shownCronSchema = cronDefinitionSchema.extend({
  id: z.string(),
  threadName: z.string().nullable(),
  nextAt: time.nullable().describe("null while paused, and when no time is left."),
  lastTick: shownTickSchema.nullable(),
  createdAt: time,
  updatedAt: time,
});

export function showTick(tick: ShownTick): z.infer<typeof shownTickSchema> {
  const { cronId: _, attempt: __, scheduledAt, claimedAt, runStatus, ...rest } = tick;
  return {
    ...rest,
    scheduledAt: iso(scheduledAt),
    claimedAt: iso(claimedAt),
    runStatus: runStatus ?? null,
  };
}

export function showCron({ cron, lastTick }: ShownCron): z.infer<typeof shownCronSchema> {
  return {
    id: cron.id,
    ...cron.definition,
    nextAt: cron.nextAt === undefined ? null : iso(cron.nextAt),
    lastTick: lastTick ? showTick(lastTick) : null,
    createdAt: iso(cron.createdAt),
    updatedAt: iso(cron.updatedAt),
  };
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
