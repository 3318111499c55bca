import type { RunRegistry } from "@throughline/thread-log";

export interface HeardStops {
  /** Listens while a run is claimed, and until its claimer had its turn. */
  during<Result>(claim: () => Promise<Result>): Promise<Result>;
  has(runId: string): boolean;
  close(): void;
}

/**
 * R25: a stop may come between the moment a run is ours in the registry and the moment its driver listens. Heartbeats would
 * repeat it, seconds later; what was heard meanwhile makes it count at once.
 */
export function createHeardStops(registry: Pick<RunRegistry, "onStop">): HeardStops {
  const heard = new Set<string>();
  let claims = 0;
  const forget = registry.onStop((runId) => {
    if (claims > 0) heard.add(runId);
  });

  function over(): void {
    claims -= 1;
    if (claims === 0) heard.clear();
  }

  return {
    async during(claim) {
      claims += 1;
      try {
        return await claim();
      } finally {
        // After the microtasks in which the claim is taken up.
        setImmediate(over);
      }
    },
    has: (runId) => heard.has(runId),
    close: forget,
  };
}
