import { type Clock, isStoreOutage } from "@throughline/ai-core";
import { poll } from "./poller.js";

/** Allowed difference between an instance's clock and the database's. */
const MAX_ERROR_MS = 2_000;
/** A slower response is ignored: the time at which it was read is too uncertain. */
const MAX_ANSWER_MS = 500;

export interface ClockGuardOptions {
  /** Reads the database's clock, which all instances use (R18). */
  readonly storeNow: () => Promise<number>;
  readonly everyMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  /** Called once when the clock drifts too far, and again only after it was in sync. */
  readonly onDrift: (errorMs: number) => void;
  readonly onFailed: (error: unknown) => void;
  /** Called with the result of each comparison: the clock's lead over the database's; negative where it is behind. */
  readonly onCompared: (errorMs: number) => void;
  /** The wall clock, which people set. LangGraph reads it, so it is the one to guard. */
  readonly wallNow?: () => number;
  /** A monotonic clock. It detects a change of the wall clock between two readings of the store's. */
  readonly steadyNow?: () => number;
}

export interface ClockGuard {
  /** Whether the clock is in sync, so that graphs may run here. Costs two readings of a clock. */
  isInSync(): boolean;
  /** The lead of the instance's clock over the database's; negative where it is behind. */
  errorMs(): number;
  close(): Promise<void>;
}

/**
 * Guards an instance's wall clock. LangGraph treats the checkpoint with the newest id as a thread's state, and the id is a time by
 * the clock of the process that wrote it: one that is ahead or behind would hide what others wrote, or have its own hidden.
 */
export function startClockGuard(options: ClockGuardOptions): ClockGuard {
  const { wallNow = Date.now, steadyNow = () => performance.now(), clock, random, everyMs } = options;
  const drift = () => wallNow() - steadyNow();
  let known = { errorMs: 0, drift: drift() };
  let wasInSync = true;

  async function read(): Promise<undefined> {
    const [asked, began] = [wallNow(), steadyNow()];
    const stored = await options.storeNow();
    const tookMs = steadyNow() - began;
    if (tookMs > MAX_ANSWER_MS) return;
    known = { errorMs: asked + tookMs / 2 - stored, drift: drift() };
    options.onCompared(known.errorMs);
    isInSync();
  }

  const errorMs = () => known.errorMs + drift() - known.drift;

  function isInSync(): boolean {
    const isInSyncNow = Math.abs(errorMs()) <= MAX_ERROR_MS;
    if (wasInSync && !isInSyncNow) options.onDrift(errorMs());
    wasInSync = isInSyncNow;
    return isInSyncNow;
  }

  const poller = poll({
    clock,
    random,
    everyMs,
    once: read,
    // An unavailable database is reported elsewhere, and the monotonic clock goes on.
    failed: (error) => isStoreOutage(error) || options.onFailed(error),
  });
  return { isInSync, errorMs, close: () => poller.close() };
}
