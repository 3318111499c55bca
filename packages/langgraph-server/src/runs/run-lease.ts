import { type Clock, retryStore, type StoreOutage, ThroughlineError } from "@throughline/ai-core";
import type { LeasedRun, LeaseKeeper, RunRegistry } from "@throughline/thread-log";
import type { AbandonReason } from "../operations/observer.js";

export interface RunHoldOptions {
  readonly leased: LeasedRun;
  readonly keeper: LeaseKeeper;
  readonly registry: Pick<RunRegistry, "release">;
  readonly clock: Clock;
  /** Aborted when the instance has no more time to wait for its stores. */
  readonly closed: AbortSignal;
  readonly onOutage: (outage: StoreOutage) => void;
}

/** A driver's hold on its run: the lease, and the two signals that end the work. */
export interface RunLease {
  /** For the graph: aborted with the error it ends with when the run is stopped, exceeds its bounds or is left. */
  readonly work: AbortSignal;
  stop(): void;
  /** Ends the graph with this error. */
  abort(error: ThroughlineError): void;
  /**
   * Abandons the run: this instance writes nothing more of it, another attempt continues from its checkpoint. The first reason
   * counts.
   */
  leave(why: AbandonReason): void;
  abandonReason(): AbandonReason | undefined;
  /** Aborted when the run is left. */
  readonly left: AbortSignal;
  /** Calls a store, and retries through an outage for as long as the run is held. */
  ask<Result>(attempt: () => Promise<Result>): Promise<Result>;
  /** Stops renewing the lease. */
  close(): void;
  /**
   * Releases the lease, so that the run is recovered at once and no crash is counted. Retried until the store responds: a lease
   * that is not released looks like a crash.
   */
  release(): Promise<void>;
}

const STOPPED = new ThroughlineError("cancelled", "The run was stopped.");
const LEFT = new ThroughlineError("conflict", "This instance no longer drives the run.");

/**
 * Holds a leased run. The hold ends by itself when the lease was lost, or may be gone by this process' own clock: then a
 * second driver may begin, and this one must have stopped.
 */
export function holdLease({ leased, keeper, registry, clock, closed, onOutage }: RunHoldOptions): RunLease {
  const { run, fence } = leased;
  const work = new AbortController();
  const left = new AbortController();
  let abandonReason: AbandonReason | undefined;

  function leave(why: AbandonReason): void {
    if (abandonReason !== undefined) return;
    abandonReason = why;
    left.abort();
    work.abort(LEFT);
  }

  const stop = () => work.abort(STOPPED);
  const stopKeeping = keeper.keep(fence, {
    lost: () => leave("lost_lease"),
    expired: () => leave("lease_expired"),
    stop,
  });
  if (run.stopRequested) stop();

  return {
    work: work.signal,
    stop,
    abort: (error) => work.abort(error),
    leave,
    abandonReason: () => abandonReason,
    left: left.signal,
    ask: (attempt) => retryStore({ clock, signal: left.signal, onOutage }, attempt),
    close: stopKeeping,
    release: () => retryStore({ clock, signal: closed }, () => registry.release(fence)),
  };
}
