import type { Clock, Fence, Timer } from "@throughline/ai-core";
import type { Lease, RunRegistry } from "./run-registry.js";

/** Callbacks of a driver about its lease. Each is called at most once, and nothing after `lost` or `expired`. */
export interface LeaseListener {
  /** Another fence holds the run: abort the graph, write nothing more. */
  lost(): void;
  /**
   * By our own clock the lease may be over, and another instance may drive the run by now: abort the graph, write nothing
   * more. Comes before the lease is over by the store's clock.
   */
  expired(): void;
  /** The run was asked to stop. */
  stop(): void;
}

export interface LeaseHealth {
  readonly ok: boolean;
  /** Why leases are not being renewed, for operators. */
  readonly reason?: string;
}

/** Renews leases until released. The PostgreSQL one runs in a worker thread, so a CPU-bound node does not look dead (R17). */
export interface LeaseKeeper {
  /** Starts renewing. Returns a function that ends the renewals without giving up the lease. */
  keep(fence: Fence, listener: LeaseListener): () => void;
  /** Whether leases are being renewed: an instance that can't renew them should get no runs. */
  healthy(): LeaseHealth;
  close(): Promise<void>;
}

/** Result of one heartbeat. */
export interface Heartbeat {
  /** When the heartbeat was sent: a lease that it renewed counts from then. */
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

interface TrackedLease {
  readonly fence: Fence;
  readonly listener: LeaseListener;
  renewedAt: number;
  isStopping: boolean;
}

/** Before its end a lease counts as over: for clocks that drift, and for writes that are on their way. */
const LARGEST_MARGIN_MS = 1_000;

export interface HeldLeases {
  /** Starts holding a lease, which counts from `now`. The returned function releases it and returns whether it was still held. */
  hold(fence: Fence, listener: LeaseListener, now: number): () => boolean;
  fences(): Fence[];
  apply(beat: Heartbeat): void;
  stop(runId: string): void;
  /** Notifies the listeners whose lease may be over. */
  expire(now: number): void;
  /** When the next lease may be over, unless it is renewed. */
  nextExpiry(): number | undefined;
  clear(): void;
}

/**
 * Tracks the leases of an instance and notifies their drivers. All times are of one clock, in milliseconds. `onEnd` is called
 * for every lease that was lost or expired, before its driver is notified.
 */
export function createHeldLeases(leaseMs: number, onEnd: (fence: Fence) => void = () => {}): HeldLeases {
  const trustedMs = leaseMs - Math.min(LARGEST_MARGIN_MS, leaseMs / 8);
  const tracked = new Map<string, TrackedLease>();

  function find({ runId, token }: HeldLease): TrackedLease | undefined {
    const held = tracked.get(runId);
    return held?.fence.token.toString() === token ? held : undefined;
  }

  function end(held: TrackedLease, why: "lost" | "expired"): void {
    tracked.delete(held.fence.runId);
    onEnd(held.fence);
    held.listener[why]();
  }

  function stop(runId: string): void {
    const held = tracked.get(runId);
    if (!held || held.isStopping) return;
    held.isStopping = true;
    held.listener.stop();
  }

  return {
    hold(fence, listener, now) {
      const before = tracked.get(fence.runId);
      if (before && before.fence.token !== fence.token) end(before, "lost");
      const held = { fence, listener, renewedAt: now, isStopping: false };
      tracked.set(fence.runId, held);
      return () => tracked.get(fence.runId) === held && tracked.delete(fence.runId);
    },
    fences: () => [...tracked.values()].map(({ fence }) => fence),
    apply({ sentAt, renewed, lost, stopping }) {
      for (const lease of renewed) {
        const held = find(lease);
        if (!held) continue;
        // Renewed too late: in between the run may have been another's, as after a pause of this process.
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
      for (const held of [...tracked.values()]) if (now - held.renewedAt >= trustedMs) end(held, "expired");
    },
    nextExpiry() {
      let earliest: number | undefined;
      for (const { renewedAt } of tracked.values()) earliest = Math.min(earliest ?? renewedAt, renewedAt);
      return earliest === undefined ? undefined : earliest + trustedMs;
    },
    clear: () => tracked.clear(),
  };
}

export interface ClockLeaseKeeperOptions extends Lease {
  readonly registry: RunRegistry;
  readonly clock: Clock;
  /** A third of `leaseMs` or less, so that a renewal that is lost costs nothing. */
  readonly everyMs: number;
}

/** Renews leases by a timer, for a registry in this process, where a heartbeat of its own thread would prove nothing. */
export function createClockLeaseKeeper(options: ClockLeaseKeeperOptions): LeaseKeeper {
  const { registry, clock, leaseMs, everyMs } = options;
  const heldLeases = createHeldLeases(leaseMs);
  const unsubscribe = registry.onStop((runId) => heldLeases.stop(runId));
  let underWay = 0;
  let lastBeatAt = clock.now();
  let closed = false;
  let nextBeat = clock.schedule(everyMs, beatAndGoOn);
  let expiry: Timer | undefined;

  async function beat(): Promise<void> {
    const fences = heldLeases.fences();
    const sentAt = clock.now();
    const { lost, stopping } = await registry.heartbeat(fences, options);
    lastBeatAt = sentAt;
    const isHeld = (runId: string) => !lost.includes(runId) && !stopping.includes(runId);
    heldLeases.apply({
      sentAt,
      renewed: fences.filter(({ runId }) => isHeld(runId)).map(leaseOf),
      lost: fences.filter(({ runId }) => lost.includes(runId)).map(leaseOf),
      stopping: fences.filter(({ runId }) => stopping.includes(runId)).map(leaseOf),
    });
  }

  function beatAndGoOn(): void {
    underWay += 1;
    // A heartbeat that fails renews nothing, and the leases expire by themselves.
    void beat()
      .catch(() => {})
      .finally(() => {
        underWay -= 1;
        judge();
      });
    if (!closed) nextBeat = clock.schedule(everyMs, beatAndGoOn);
  }

  /** Ends leases that are over. A clock that is moved in one step leaves no time for responses: they are waited for. */
  function judge(): void {
    expiry?.cancel();
    expiry = undefined;
    if (closed || underWay > 0) return;
    heldLeases.expire(clock.now());
    const next = heldLeases.nextExpiry();
    if (next !== undefined) expiry = clock.schedule(next - clock.now(), judge);
  }

  return {
    keep(fence, listener) {
      const release = heldLeases.hold(fence, listener, clock.now());
      if (expiry === undefined) judge();
      return () => void release();
    },
    healthy() {
      const silentMs = clock.now() - lastBeatAt;
      if (underWay > 0 || silentMs <= leaseMs) return { ok: true };
      return { ok: false, reason: `No heartbeat was answered for ${Math.round(silentMs / 1_000)} s.` };
    },
    async close() {
      closed = true;
      nextBeat.cancel();
      expiry?.cancel();
      unsubscribe();
      heldLeases.clear();
    },
  };
}
