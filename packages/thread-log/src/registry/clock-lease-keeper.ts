import type { Clock, Timer } from "@throughline/ai-core";
import type { LeaseKeeper } from "../port/lease-keeper.js";
import type { Lease } from "../port/run-record.js";
import type { RunRegistry } from "../port/run-registry.js";
import { createKeptLeases, leaseOf } from "./kept-leases.js";

export interface ClockLeaseKeeperOptions extends Lease {
  readonly registry: RunRegistry;
  readonly clock: Clock;
  /** A third of `leaseMs` or less, so that a renewal that is lost costs nothing. */
  readonly everyMs: number;
}

/** For a registry that lives in this process, where a heartbeat of its own thread would prove nothing. */
export function createClockLeaseKeeper(options: ClockLeaseKeeperOptions): LeaseKeeper {
  const { registry, clock, leaseMs, everyMs } = options;
  const kept = createKeptLeases(leaseMs);
  const unsubscribe = registry.onStop((runId) => kept.stop(runId));
  let underWay = 0;
  let lastBeatAt = clock.now();
  let closed = false;
  let nextBeat = clock.schedule(everyMs, beatAndGoOn);
  let expiry: Timer | undefined;

  async function beat(): Promise<void> {
    const fences = kept.fences();
    const sentAt = clock.now();
    const { lost, stopping } = await registry.heartbeat(fences, options);
    lastBeatAt = sentAt;
    const isKept = (runId: string) => !lost.includes(runId) && !stopping.includes(runId);
    kept.apply({
      sentAt,
      renewed: fences.filter(({ runId }) => isKept(runId)).map(leaseOf),
      lost: fences.filter(({ runId }) => lost.includes(runId)).map(leaseOf),
      stopping: fences.filter(({ runId }) => stopping.includes(runId)).map(leaseOf),
    });
  }

  function beatAndGoOn(): void {
    underWay += 1;
    // A heartbeat that fails renews nothing, and the leases tell when they are over.
    void beat()
      .catch(() => {})
      .finally(() => {
        underWay -= 1;
        judge();
      });
    if (!closed) nextBeat = clock.schedule(everyMs, beatAndGoOn);
  }

  /** A clock that is moved in one step has no time for answers: they are waited for. */
  function judge(): void {
    expiry?.cancel();
    expiry = undefined;
    if (closed || underWay > 0) return;
    kept.expire(clock.now());
    const next = kept.nextExpiry();
    if (next !== undefined) expiry = clock.schedule(next - clock.now(), judge);
  }

  return {
    keep(fence, listener) {
      const letGo = kept.keep(fence, listener, clock.now());
      if (expiry === undefined) judge();
      return () => void letGo();
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
      kept.clear();
    },
  };
}
