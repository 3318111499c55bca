import { z } from "zod";
import type { CronDefinition } from "./cron-definition.js";

/** The owner of crons: an account, or one subject of it. */
export interface CronScope {
  readonly account: string;
  readonly subject?: string | undefined;
}

/** Times are milliseconds since the Unix epoch, by the store's clock. */
export interface Cron extends CronScope {
  readonly id: string;
  /** R32: the key that pays, of the caller who wrote the cron last. */
  readonly virtualKeyId: string;
  readonly definition: CronDefinition;
  /** When the schedule was set. Intervals count from here. */
  readonly anchorAt: number;
  /** The first scheduled time that has no tick yet; absent while paused, and when none is left. */
  readonly nextAt: number | undefined;
  /** `nextAt` plus its jitter. */
  readonly dueAt: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The kinds of outcome are those of the wire. `pending` is not delivered yet, or is being tried again. */
export const tickOutcomeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("pending") }),
  z.object({ kind: z.literal("started"), runId: z.string() }),
  z.object({
    kind: z.literal("skipped"),
    reason: z.enum(["busy", "interrupt_pending"]),
    runId: z.string().optional(),
  }),
  z.object({ kind: z.literal("failed"), code: z.string(), message: z.string() }),
  z.object({ kind: z.literal("missed") }),
]);
export type TickOutcome = z.infer<typeof tickOutcomeSchema>;

/** One time a cron was due, or a caller started it manually. */
export interface CronTick {
  readonly cronId: string;
  /** The scheduled time, or a random name when a caller started it. Unique in its cron. */
  readonly id: string;
  readonly scheduledAt: number;
  readonly claimedAt: number;
  /** The target of the run, fixed when the tick is claimed: a redelivery after a change of the cron must find the same run. */
  readonly agent: string;
  readonly threadName: string;
  /** Scheduled times that passed without a run: before this one, or up to it where this one was missed too. */
  readonly missed: number;
  readonly attempt: number;
  readonly outcome: TickOutcome;
}

export interface ClaimedTick {
  readonly cron: Cron;
  readonly tick: CronTick;
}
