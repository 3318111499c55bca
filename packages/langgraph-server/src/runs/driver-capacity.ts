import { ThroughlineError } from "@throughline/ai-core";

/** Admits one start, until its run is driven or it is known that there is none to drive. */
export interface DrivingPermit {
  leave(): void;
}

/** How many runs an instance may drive at once. Past that its streams would fall behind, all of them. */
export interface DrivingRoom {
  /** How many more runs may be claimed. */
  left(): number;
  /**
   * Before a run is started here; throws `store_unavailable` where nothing may run, and `rate_limited` where there is no room. A run
   * that will follow the one its thread has (`isFollowing`) needs no room: it is driven when that one has made some.
   */
  enter(isFollowing: boolean): DrivingPermit;
}

/** What one core can drive of graphs that wait for their models most of the time. */
export const DEFAULT_MAX_DRIVEN = 200;
const RETRY_AFTER_MS = 1_000;

/** Starts under way are counted, because many may come at once. */
export function createDrivingRoom(
  max: number,
  driving: () => number,
  /** Whether graphs may run here at all. */
  isOpen: () => boolean,
): DrivingRoom {
  let starting = 0;
  const left = () => (isOpen() ? max - driving() - starting : 0);
  return {
    left,
    enter(isFollowing) {
      if (!isOpen()) {
        throw new ThroughlineError(
          "store_unavailable",
          "This instance's clock is not that of the database, so no run starts here. Try again.",
          { details: { retryAfterMs: RETRY_AFTER_MS } },
        );
      }
      if (isFollowing) return { leave() {} };
      if (left() <= 0) {
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
