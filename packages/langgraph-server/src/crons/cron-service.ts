import type { Caller } from "@throughline/ai-core";
import type { RegistryStatus } from "@throughline/thread-log";
import type { Cron, CronScope, CronTick } from "./cron.js";
import type { CronChange, CronDefinition } from "./cron-definition.js";

/** A tick, and how its run stands: `undefined` when there is none, or not any more. */
export interface ShownTick extends CronTick {
  readonly runStatus: RegistryStatus | undefined;
}

export interface ShownCron {
  readonly cron: Cron;
  readonly lastTick: ShownTick | undefined;
}

export interface PageRequest {
  readonly limit: number;
  readonly after?: string | undefined;
}

/** Everything there is to do with crons, of one account and subject at a time. `not_found` is thrown for those of others. */
export interface CronService {
  /** Throws `invalid_input` naming the field, `rate_limited` when the account has all it may. */
  create(caller: Caller, definition: CronDefinition): Promise<ShownCron>;
  list(
    scope: CronScope,
    page: PageRequest,
  ): Promise<{ crons: readonly ShownCron[]; next: string | undefined }>;
  get(scope: CronScope, id: string): Promise<ShownCron>;
  change(caller: Caller, id: string, change: CronChange): Promise<ShownCron>;
  remove(scope: CronScope, id: string): Promise<void>;
  /** A tick now, paused or not. Throws what kept it from starting. */
  runNow(scope: CronScope, id: string): Promise<ShownTick>;
  /** Newest first. */
  ticks(
    scope: CronScope,
    id: string,
    page: PageRequest,
  ): Promise<{ ticks: readonly ShownTick[]; next: string | undefined }>;
  /** The next times of a schedule, from now. */
  preview(schedule: {
    readonly schedule: string;
    readonly timeZone: string;
    readonly count: number;
  }): Promise<number[]>;
  /** For deletion: crons of an account, or of one subject of it, and their ticks. Gives how many crons there were. */
  removeAll(account: string, subject?: string): Promise<number>;
  /** Looks for what is due; resolves when it is delivered. */
  look(): Promise<void>;
  /** Claims nothing more; what was claimed is delivered. */
  close(): Promise<void>;
}
