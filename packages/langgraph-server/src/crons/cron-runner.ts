import { type Clock, type ErrorCode, StoreOutage, ThroughlineError, toWireError } from "@throughline/ai-core";
import { isBeingDeleted } from "@throughline/thread-log";
import type { ServiceObserver } from "../thread/service-observer.js";
import { type Poller, poll } from "../timing/poll.js";
import type { ClaimedTick, TickOutcome } from "./cron.js";
import type { CronStore } from "./cron-store.js";

export interface CronRunnerOptions {
  readonly store: CronStore;
  readonly deliver: (claimed: ClaimedTick) => Promise<TickOutcome>;
  readonly clock: Clock;
  /** How long another instance's changes may go unnoticed. */
  readonly everyMs: number;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "failed">;
}

/** A poll is over when every tick that was due is delivered. */
export type CronRunner = Poller;

/** How long a delivery may take before another instance tries: starting a run takes milliseconds. */
export const TICK_LEASE_MS = 30_000;
const PER_CLAIM = 16;
const MAX_ATTEMPTS = 10;
const MAX_WAIT_MS = 60_000;
/** Codes of failures that a later attempt may not meet. */
const PASSING: readonly ErrorCode[] = [
  "rate_limited",
  "shutting_down",
  "upstream_unavailable",
  "store_unavailable",
  "internal",
];

/** Delivers crons that are due and ticks that were left undelivered: at once, when the next one is due, and at intervals. */
export function startCronRunner(options: CronRunnerOptions): CronRunner {
  const { store, observer } = options;

  async function deliver(claimed: ClaimedTick): Promise<void> {
    try {
      await store.settle(claimed.tick, await attempt(claimed));
    } catch (error) {
      const passing = passingCode(error);
      if (passing === "internal")
        observer.failed("A cron's tick could not be delivered; it is tried again.", error);
      // When even this can't be written, the tick stays pending and is claimed again when its lease has run out.
      const wait = passing === "shutting_down" ? 0 : Math.min(1_000 * 2 ** claimed.tick.attempt, MAX_WAIT_MS);
      await store.postpone(claimed.tick, wait).catch(() => {});
    }
  }

  async function attempt(claimed: ClaimedTick): Promise<TickOutcome> {
    try {
      return await options.deliver(claimed);
    } catch (error) {
      // A store that is away is never the tick's failure, however long that takes.
      if (error instanceof StoreOutage) throw error;
      if (passingCode(error) !== undefined && claimed.tick.attempt < MAX_ATTEMPTS) throw error;
      return failedOutcome(error);
    }
  }

  async function claimAll(closing: AbortSignal): Promise<void> {
    for (let found = PER_CLAIM; found === PER_CLAIM && !closing.aborted; ) {
      const { crons, ticks } = await store.claimDue(PER_CLAIM, TICK_LEASE_MS);
      await Promise.all(ticks.map(deliver));
      found = crons;
    }
    for (let found = PER_CLAIM; found === PER_CLAIM && !closing.aborted; ) {
      const ticks = await store.claimPending(PER_CLAIM, TICK_LEASE_MS);
      await Promise.all(ticks.map(deliver));
      found = ticks.length;
    }
  }

  return poll({
    ...options,
    async once(closing) {
      await claimAll(closing);
      return store.untilDue();
    },
    failed: (error) => observer.failed("Crons that are due could not be claimed.", error),
  });
}

export function failedOutcome(error: unknown): TickOutcome {
  const { code, message } = toWireError(error);
  return { kind: "failed", code, message };
}

function passingCode(error: unknown): ErrorCode | undefined {
  const code = error instanceof ThroughlineError ? error.code : "internal";
  return PASSING.includes(code) || isBeingDeleted(error) ? code : undefined;
}
