import type { Clock, Timer } from "@throughline/ai-core";
import type { Lease, LeasedRun, RunRegistry } from "@throughline/thread-log";
import type { ServiceObserver } from "./service-observer.js";

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

export interface Reaper {
  /** Looks now; resolves when everything that was due is being driven. */
  look(): Promise<void>;
  close(): Promise<void>;
}

const PER_CLAIM = 16;
const JITTER = 0.25;

/** R27: finds runs whose driver is gone, and runs that wait on a thread that is free. At once, then again and again. */
export function startReaper(options: ReaperOptions): Reaper {
  const { registry, lease, clock, everyMs, random, drive } = options;
  let closed = false;
  let timer: Timer | undefined;
  let looking: Promise<void> | undefined;

  async function claimAll(
    claim: (lease: Lease, limit: number) => Promise<readonly LeasedRun[]>,
  ): Promise<void> {
    for (;;) {
      if (closed) return;
      const claimed = await claim(lease, PER_CLAIM);
      claimed.forEach(drive);
      if (claimed.length < PER_CLAIM) return;
    }
  }

  async function lookOnce(): Promise<void> {
    timer?.cancel();
    try {
      await claimAll((by, limit) => registry.claimExpired(by, limit));
      await claimAll((by, limit) => registry.claimQueued(by, limit));
    } catch (error) {
      options.observer.failed("Abandoned and waiting runs could not be looked for.", error);
    }
    looking = undefined;
    if (closed) return;
    timer = clock.schedule(everyMs * (1 - JITTER + 2 * JITTER * random()), () => void look());
  }

  function look(): Promise<void> {
    looking ??= lookOnce();
    return looking;
  }

  void look();
  return {
    look,
    async close() {
      closed = true;
      timer?.cancel();
      await looking;
    },
  };
}
