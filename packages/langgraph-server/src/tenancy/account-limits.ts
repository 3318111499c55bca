import { ThroughlineError } from "@throughline/ai-core";

/** What one account may take of one instance. */
export interface AccountLimits {
  readonly maxBodyBytes: number;
  /** Of all messages of one request; stock clients send the whole conversation each time. */
  readonly maxContentParts: number;
  readonly maxConcurrentRuns: number;
  readonly maxWatchers: number;
}

export const DEFAULT_LIMITS: AccountLimits = {
  maxBodyBytes: 4 * 1_048_576,
  maxContentParts: 5_000,
  maxConcurrentRuns: 50,
  maxWatchers: 1_000,
};

/** A place that is taken until it is given back. */
export interface Place {
  leave(): void;
}

export interface RunPlace extends Place {
  /** The run it is now held for; given back when that run ends. */
  holdFor(runId: string, isOpen: () => Promise<boolean>): void;
}

export interface AccountUsage {
  /** Throws `rate_limited` when the account watches all it may. */
  watch(account: string, limits: AccountLimits): Place;
  /** Throws `rate_limited` when the account runs all it may. */
  run(account: string, limits: AccountLimits): Promise<RunPlace>;
  /** A run ended, or left this instance. */
  runEnded(runId: string): void;
}

const RETRY_AFTER_MS = 1_000;

interface HeldPlace {
  isOpen: () => Promise<boolean>;
  leave: () => void;
}

/** Counts what accounts use of this instance. */
export function createAccountUsage(): AccountUsage {
  const watching = new Map<string, number>();
  const running = new Map<string, Set<HeldPlace>>();
  const byRun = new Map<string, HeldPlace>();

  function placesOf(account: string): Set<HeldPlace> {
    const places = running.get(account) ?? new Set<HeldPlace>();
    running.set(account, places);
    return places;
  }

  /** Ends are told; one that was not, because another instance saw it, is found out before anybody is refused. */
  async function forgetEnded(places: ReadonlySet<HeldPlace>): Promise<void> {
    const looks = [...places].map(async (place) => {
      if (!(await place.isOpen().catch(() => true))) place.leave();
    });
    await Promise.all(looks);
  }

  return {
    watch(account, { maxWatchers }) {
      const count = watching.get(account) ?? 0;
      if (count >= maxWatchers) throw limited(`This account watches ${maxWatchers} streams already.`);
      watching.set(account, count + 1);
      return once(() => {
        const left = (watching.get(account) ?? 1) - 1;
        if (left > 0) watching.set(account, left);
        else watching.delete(account);
      });
    },

    async run(account, { maxConcurrentRuns }) {
      if (placesOf(account).size >= maxConcurrentRuns) await forgetEnded(placesOf(account));
      const places = placesOf(account);
      if (places.size >= maxConcurrentRuns) {
        throw limited(`This account has ${maxConcurrentRuns} runs open already.`);
      }
      let heldFor: string | undefined;
      const { leave } = once(() => {
        places.delete(place);
        if (places.size === 0) running.delete(account);
        if (heldFor !== undefined) byRun.delete(heldFor);
      });
      const place: HeldPlace = { isOpen: async () => true, leave };
      places.add(place);
      return {
        leave,
        holdFor(runId, isOpen) {
          heldFor = runId;
          place.isOpen = isOpen;
          byRun.set(runId, place);
        },
      };
    },

    runEnded: (runId) => byRun.get(runId)?.leave(),
  };
}

function once(leave: () => void): Place {
  let left = false;
  return {
    leave() {
      if (left) return;
      left = true;
      leave();
    },
  };
}

function limited(message: string): ThroughlineError {
  return new ThroughlineError("rate_limited", message, { details: { retryAfterMs: RETRY_AFTER_MS } });
}
