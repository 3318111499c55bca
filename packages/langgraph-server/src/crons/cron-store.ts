import type { ClaimedTick, Cron, CronScope, CronTick, TickOutcome } from "./cron.js";
import type { Page } from "./page-place.js";

/** Of each cron's ticks the latest; those that are pending stay beyond that. */
export const KEPT_TICKS = 100;

/** A cron and the latest of its ticks. */
export interface CronEntry {
  readonly cron: Cron;
  readonly lastTick: CronTick | undefined;
}

export interface Claimed {
  /** How many crons were due, of those there may be more than ticks to deliver. */
  readonly crons: number;
  readonly ticks: readonly ClaimedTick[];
  /** Those that nobody has to deliver: they were missed, or their cron can't be read any more. */
  readonly decided: readonly CronTick[];
}

/**
 * Where crons are. R18: every `now` given to a callback is the store's own. A callback runs inside the transaction that
 * writes what it returns, so it is pure and quick.
 */
export interface CronStore {
  now(): Promise<number>;
  /** `undefined` when the account has `limit` crons already, over all of its subjects. */
  create(account: string, limit: number, make: (now: number) => Cron): Promise<Cron | undefined>;
  find(scope: CronScope, id: string): Promise<CronEntry | undefined>;
  /** In order of creation. */
  list(scope: CronScope, page: Page): Promise<readonly CronEntry[]>;
  change(
    scope: CronScope,
    id: string,
    apply: (cron: Cron, now: number) => Cron,
  ): Promise<CronEntry | undefined>;
  remove(scope: CronScope, id: string): Promise<boolean>;
  /** Of every subject where none is given. Gives how many there were. */
  removeAll(account: string, subject?: string): Promise<number>;
  /** Newest first. */
  ticks(scope: CronScope, id: string, page: Page): Promise<readonly CronTick[]>;
  addTick(
    scope: CronScope,
    id: string,
    leaseMs: number,
    make: (cron: Cron, now: number) => CronTick,
  ): Promise<ClaimedTick | undefined>;
  /** Crons that are due, each for one caller alone: their ticks are written and their next time is set, or nothing is. */
  claimDue(limit: number, leaseMs: number): Promise<Claimed>;
  /** Ticks whose deliverer was not heard of within its lease, or that were postponed until now. */
  claimPending(limit: number, leaseMs: number): Promise<readonly ClaimedTick[]>;
  /**
   * Says what became of a tick. Once it started a run it stays so, whatever a slower deliverer believes; `false` to whom it
   * told nothing new.
   */
  settle(tick: CronTick, outcome: TickOutcome): Promise<boolean>;
  /** To be delivered again, that much later. */
  postpone(tick: CronTick, ms: number): Promise<void>;
  /** How long until something is due; `undefined` when nothing ever is. */
  untilDue(): Promise<number | undefined>;
}
