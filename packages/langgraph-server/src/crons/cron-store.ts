import type { BadRow } from "../operations/observer.js";
import type { Page } from "../threads/paging.js";
import type { ClaimedTick, Cron, CronScope, CronTick, TickOutcome } from "./cron.js";

/** How many ticks of each cron are retained. Pending ones are retained beyond that. */
export const RETAINED_TICKS = 100;

export type BadRowListener = (row: BadRow) => void;

/** A cron and the latest of its ticks. */
export interface CronEntry {
  readonly cron: Cron;
  readonly lastTick: CronTick | undefined;
}

export interface Claimed {
  /** How many crons were due. There may be fewer ticks to deliver. */
  readonly crons: number;
  readonly ticks: readonly ClaimedTick[];
  /** Ticks that need no delivery: they were missed, or their cron's schedule can't be computed. */
  readonly decided: readonly CronTick[];
}

/**
 * Stores crons and their ticks. R18: every `now` given to a callback is the store's own. A callback runs inside the
 * transaction that writes what it returns, so it is pure and quick.
 */
export interface CronStore {
  now(): Promise<number>;
  /**
   * Reports each row that can't be decoded, when it is marked. Such a row is then in no claim and no listing until it
   * is repaired or a version that can read it comes; it can be deleted.
   */
  onBadRow(listener: BadRowListener): void;
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
  /** Removes crons of the subject, or of every subject. Returns how many crons there were. */
  removeAll(account: string, subject?: string): Promise<number>;
  /** Newest first. */
  ticks(scope: CronScope, id: string, page: Page): Promise<readonly CronTick[]>;
  addTick(
    scope: CronScope,
    id: string,
    leaseMs: number,
    make: (cron: Cron, now: number) => CronTick,
  ): Promise<ClaimedTick | undefined>;
  /** Claims crons that are due, each for one caller alone: their ticks are written and their next time is set, or nothing is. */
  claimDue(limit: number, leaseMs: number): Promise<Claimed>;
  /** Claims ticks whose deliverer's lease ran out, and ticks that were postponed until now. */
  claimPending(limit: number, leaseMs: number): Promise<readonly ClaimedTick[]>;
  /** Records the outcome of a tick. `started` is final, whatever a slower deliverer records. `false`: nothing changed. */
  settle(tick: CronTick, outcome: TickOutcome): Promise<boolean>;
  /** Delivers the tick again after `ms`. */
  postpone(tick: CronTick, ms: number): Promise<void>;
  /** How long until something is due; `undefined` when nothing ever is. */
  untilDue(): Promise<number | undefined>;
}
