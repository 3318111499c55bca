import type { Clock, Fence } from "@throughline/ai-core";
import type { Lease, LeaseKeeper, LeaseListener, RunRegistry } from "../port/run-registry.js";

export interface ClockLeaseKeeperOptions extends Lease {
  readonly registry: RunRegistry;
  readonly clock: Clock;
  /** A third of `leaseMs` or less, so that one that goes astray costs nothing. */
  readonly everyMs: number;
}

/** For a registry that lives in this process, where a heartbeat of its own thread would prove nothing. */
export function createClockLeaseKeeper(options: ClockLeaseKeeperOptions): LeaseKeeper {
  const { registry, clock, everyMs } = options;
  const kept = new Map<string, { fence: Fence; listener: LeaseListener; stopped: boolean }>();
  const forget = registry.onStop(tellStop);
  let closed = false;
  let timer = clock.schedule(everyMs, beat);

  function tellStop(runId: string): void {
    const held = kept.get(runId);
    if (!held || held.stopped) return;
    held.stopped = true;
    held.listener.stop();
  }

  function beat(): void {
    const fences = [...kept.values()].map(({ fence }) => fence);
    void registry.heartbeat(fences, options).then(({ lost, stopping }) => {
      for (const runId of lost) {
        const held = kept.get(runId);
        kept.delete(runId);
        held?.listener.lost();
      }
      stopping.forEach(tellStop);
    });
    if (!closed) timer = clock.schedule(everyMs, beat);
  }

  return {
    keep(fence, listener) {
      kept.set(fence.runId, { fence, listener, stopped: false });
      return () => {
        if (kept.get(fence.runId)?.fence === fence) kept.delete(fence.runId);
      };
    },
    async close() {
      closed = true;
      timer.cancel();
      forget();
      kept.clear();
    },
  };
}
