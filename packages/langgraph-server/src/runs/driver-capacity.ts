import { ThroughlineError } from "@throughline/ai-core";

/** Admits one start, until its run is driven or it is known that there is none to drive. */
export interface DriverPermit {
  leave(): void;
}

/** Limits how many runs an instance drives at once. Past that all its streams would fall behind. */
export interface DriverCapacity {
  /** How many more runs may be claimed. */
  available(): number;
  /**
   * Before a run is started here; throws `store_unavailable` where nothing may run, and `rate_limited` at the limit. A run
   * that will follow the active run of its thread (`isFollowing`) needs no permit: it gets that one's.
   */
  acquire(isFollowing: boolean): DriverPermit;
}

/** As many runs as one core can drive, of graphs that wait for their models most of the time. */
export const DEFAULT_MAX_DRIVEN = 200;
const RETRY_AFTER_MS = 1_000;

/** Creates the limit. Starts under way are counted, because many may come at once. */
export function createDriverCapacity(
  max: number,
  driving: () => number,
  /** Whether graphs may run here at all. */
  isOpen: () => boolean,
): DriverCapacity {
  let starting = 0;
  const available = () => (isOpen() ? max - driving() - starting : 0);
  return {
    available,
    acquire(isFollowing) {
      if (!isOpen()) {
        throw new ThroughlineError(
          "store_unavailable",
          "This instance's clock is not that of the database, so no run starts here. Try again.",
          { details: { retryAfterMs: RETRY_AFTER_MS } },
        );
      }
      if (isFollowing) return { leave() {} };
      if (available() <= 0) {
        throw new ThroughlineError(
          "rate_limited",
          `maxDriven: this instance drives ${max} runs already. Retry after the time given.`,
          { details: { limit: "maxDriven", max, retryAfterMs: RETRY_AFTER_MS } },
        );
      }
      starting += 1;
      let isLeft = false;
      return {
        leave() {
          if (!isLeft) starting -= 1;
          isLeft = true;
        },
      };
    },
  };
}
