import { type Clock, isStoreOutage } from "@throughline/ai-core";
import { poll } from "./poller.js";

/** How far an instance's clock may be from the database's. */
const MAX_ERROR_MS = 2_000;
/** An answer that took longer says too little about the moment it was made in. */
const MAX_ANSWER_MS = 500;

export interface ClockGuardOptions {
  /** The time by the database's clock, which all instances go by (R18). */
  readonly storeNow: () => Promise<number>;
  readonly everyMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  /** Called when the clock turns out to be wrong, and once for all the time until it is right again. */
  readonly onWrong: (errorMs: number) => void;
  readonly onFailed: (error: unknown) => void;
  /** Called with each comparison: how far the clock is ahead of the database's; negative where it is behind. */
  readonly onCompared: (errorMs: number) => void;
  /** The clock that people set. LangGraph reads it, so it is the one to guard. */
  readonly wallNow?: () => number;
  /** A stopwatch that none sets: a wall clock that is put forward or back is noticed between two readings of the store. */
  readonly steadyNow?: () => number;
}

export interface ClockGuard {
  /** Whether graphs may run here now. Costs two readings of a clock. */
  isRight(): boolean;
  /** How far the instance's clock is ahead of the database's; negative where it is behind. */
  errorMs(): number;
  close(): Promise<void>;
}

/**
 * Watches an instance's wall clock. LangGraph takes the checkpoint with the newest id for a thread's state, and the id is a time by the
 * clock of the process that wrote it: one that is ahead or behind would hide what others wrote, or have its own hidden.
 */
export function startClockGuard(options: ClockGuardOptions): ClockGuard {
  const { wallNow = Date.now, steadyNow = () => performance.now(), clock, random, everyMs } = options;
  const drift = () => wallNow() - steadyNow();
  let known = { errorMs: 0, drift: drift() };
  let wasRight = true;

  async function read(): Promise<undefined> {
    const [asked, began] = [wallNow(), steadyNow()];
    const stored = await options.storeNow();
    const tookMs = steadyNow() - began;
    if (tookMs > MAX_ANSWER_MS) return;
    known = { errorMs: asked + tookMs / 2 - stored, drift: drift() };
    options.onCompared(known.errorMs);
    isRight();
  }

  const errorMs = () => known.errorMs + drift() - known.drift;

  function isRight(): boolean {
    const isRightNow = Math.abs(errorMs()) <= MAX_ERROR_MS;
    if (wasRight && !isRightNow) options.onWrong(errorMs());
    wasRight = isRightNow;
    return isRightNow;
  }

  const poller = poll({
    clock,
    random,
    everyMs,
    once: read,
    // A database that is away is told of elsewhere, and the stopwatch goes on.
    failed: (error) => isStoreOutage(error) || options.onFailed(error),
  });
  return { isRight, errorMs, close: () => poller.close() };
}
