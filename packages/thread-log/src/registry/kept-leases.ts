import type { Fence } from "@throughline/ai-core";
import type { LeaseListener } from "../port/lease-keeper.js";

/** What one heartbeat found. */
export interface Beat {
  /** When it was sent: from then on a lease that it renewed counts. */
  readonly sentAt: number;
  readonly renewed: readonly HeldLease[];
  /** Held by another fence. */
  readonly lost: readonly HeldLease[];
  /** To stop; their leases were not renewed. */
  readonly stopping: readonly HeldLease[];
}

/** A fence as it travels between threads. */
export interface HeldLease {
  readonly runId: string;
  readonly token: string;
}

export function leaseOf({ runId, token }: Fence): HeldLease {
  return { runId, token: token.toString() };
}

interface Kept {
  readonly fence: Fence;
  readonly listener: LeaseListener;
  renewedAt: number;
  isStopping: boolean;
}

/** Before its end a lease counts as over: for clocks that drift, and for writes that are on their way. */
const LARGEST_MARGIN_MS = 1_000;

export interface KeptLeases {
  /** `now` is when the lease counts from. Returns whether the fence was still kept, when it is let go. */
  keep(fence: Fence, listener: LeaseListener, now: number): () => boolean;
  fences(): Fence[];
  apply(beat: Beat): void;
  stop(runId: string): void;
  /** Tells those whose lease may be over. */
  expire(now: number): void;
  /** When the next lease may be over, unless it is renewed. */
  nextExpiry(): number | undefined;
  clear(): void;
}

/**
 * The leases of an instance, and what their drivers are told. All times are of one clock, in milliseconds. `onEnd` hears of
 * every lease that was lost or expired, before its driver does.
 */
export function createKeptLeases(leaseMs: number, onEnd: (fence: Fence) => void = () => {}): KeptLeases {
  const trustedMs = leaseMs - Math.min(LARGEST_MARGIN_MS, leaseMs / 8);
  const kept = new Map<string, Kept>();

  function find({ runId, token }: HeldLease): Kept | undefined {
    const held = kept.get(runId);
    return held?.fence.token.toString() === token ? held : undefined;
  }

  function end(held: Kept, why: "lost" | "expired"): void {
    kept.delete(held.fence.runId);
    onEnd(held.fence);
    held.listener[why]();
  }

  function stop(runId: string): void {
    const held = kept.get(runId);
    if (!held || held.isStopping) return;
    held.isStopping = true;
    held.listener.stop();
  }

  return {
    keep(fence, listener, now) {
      const before = kept.get(fence.runId);
      if (before && before.fence.token !== fence.token) end(before, "lost");
      const held = { fence, listener, renewedAt: now, isStopping: false };
      kept.set(fence.runId, held);
      return () => kept.get(fence.runId) === held && kept.delete(fence.runId);
    },
    fences: () => [...kept.values()].map(({ fence }) => fence),
    apply({ sentAt, renewed, lost, stopping }) {
      for (const lease of renewed) {
        const held = find(lease);
        if (!held) continue;
        // Renewed too late: in between the run may have been another's, as after this process stood still.
        if (sentAt - held.renewedAt >= trustedMs) end(held, "expired");
        else held.renewedAt = Math.max(held.renewedAt, sentAt);
      }
      for (const lease of lost) {
        const held = find(lease);
        if (held) end(held, "lost");
      }
      for (const lease of stopping) if (find(lease)) stop(lease.runId);
    },
    stop,
    expire(now) {
      for (const held of [...kept.values()]) if (now - held.renewedAt >= trustedMs) end(held, "expired");
    },
    nextExpiry() {
      let earliest: number | undefined;
      for (const { renewedAt } of kept.values()) earliest = Math.min(earliest ?? renewedAt, renewedAt);
      return earliest === undefined ? undefined : earliest + trustedMs;
    },
    clear: () => kept.clear(),
  };
}
