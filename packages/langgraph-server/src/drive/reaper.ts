import type { Clock } from "@throughline/ai-core";
import type { Lease, LeasedRun, RunRegistry } from "@throughline/thread-log";
import type { ServiceObserver } from "../thread/service-observer.js";
import { type Poller, poll } from "../timing/poll.js";

export interface ReaperOptions {
  readonly registry: Pick<RunRegistry, "claimExpired" | "claimQueued">;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly everyMs: number;
  /** In [0, 1): spreads instances that started together. */
  readonly random: () => number;
  readonly observer: Pick<ServiceObserver, "failed">;
  readonly drive: (leased: LeasedRun) => void;
}

/** A look is over when everything that was due is being driven. */
export type Reaper = Poller;

const PER_CLAIM = 16;

/** R27: finds runs whose driver is gone, and runs that wait on a thread that is free. At once, then again and again. */
export function startReaper(options: ReaperOptions): Reaper {
  const { registry, lease, observer, drive } = options;

  async function claimAll(
    closing: AbortSignal,
    claim: (lease: Lease, limit: number) => Promise<readonly LeasedRun[]>,
  ): Promise<void> {
    for (let found = PER_CLAIM; found === PER_CLAIM && !closing.aborted; ) {
      const claimed = await claim(lease, PER_CLAIM);
      claimed.forEach(drive);
      found = claimed.length;
    }
  }

  return poll({
    ...options,
    async once(closing) {
      await claimAll(closing, (by, limit) => registry.claimExpired(by, limit));
      await claimAll(closing, (by, limit) => registry.claimQueued(by, limit));
      return undefined;
    },
    failed: (error) => observer.failed("Abandoned and waiting runs could not be looked for.", error),
  });
}
