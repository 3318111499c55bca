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
  /** How many more runs this instance may drive. */
  readonly room: () => number;
  readonly drive: (leased: LeasedRun) => void;
}

/** A poll is over when everything that was due, and fits, is being driven. */
export type Reaper = Poller;

const PER_CLAIM = 16;

/** R27: claims runs whose driver is gone, and queued runs whose thread is free. At once, then at intervals. */
export function startReaper(options: ReaperOptions): Reaper {
  const { registry, lease, observer, room, drive } = options;

  async function claimAll(
    closing: AbortSignal,
    claim: (lease: Lease, limit: number) => Promise<readonly LeasedRun[]>,
  ): Promise<void> {
    while (!closing.aborted) {
      const limit = Math.min(PER_CLAIM, room());
      if (limit <= 0) return;
      const claimed = await claim(lease, limit);
      claimed.forEach(drive);
      if (claimed.length < limit) return;
    }
  }

  return poll({
    ...options,
    async once(closing) {
      await claimAll(closing, (by, limit) => registry.claimExpired(by, limit));
      await claimAll(closing, (by, limit) => registry.claimQueued(by, limit));
      return undefined;
    },
    failed: (error) => observer.failed("Abandoned and queued runs could not be claimed.", error),
  });
}
