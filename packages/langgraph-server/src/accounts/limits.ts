import { type Clock, systemClock, ThroughlineError } from "@throughline/ai-core";

/**
 * What one account may take. Open runs are counted over all instances; what goes by the minute, watchers and exports, with shared
 * counts over all of them and else on each one by itself.
 */
export interface AccountLimits {
  readonly maxBodyBytes: number;
  /** Of all messages of one request; stock clients send the whole conversation each time. */
  readonly maxContentParts: number;
  readonly maxConcurrentRuns: number;
  readonly maxWatchers: number;
  readonly maxStartsPerMinute: number;
  readonly maxBodyBytesPerMinute: number;
  /** Of threads, people and the account itself. */
  readonly maxDeletionsPerMinute: number;
  /** What one attempt of a run may write to the log; past that it ends as `too_large`. */
  readonly maxEventsPerRun: number;
  readonly maxBytesPerRun: number;
}

const MIB = 1_048_576;

export const DEFAULT_LIMITS: AccountLimits = {
  maxBodyBytes: 4 * MIB,
  maxContentParts: 5_000,
  maxConcurrentRuns: 50,
  maxWatchers: 1_000,
  maxStartsPerMinute: 6_000,
  maxBodyBytesPerMinute: 256 * MIB,
  maxDeletionsPerMinute: 300,
  maxEventsPerRun: 250_000,
  maxBytesPerRun: 128 * MIB,
};

/** A place that is taken until it is given back. */
export interface Place {
  leave(): void;
}

/** Every refusal is `rate_limited`, and names the limit, what it is, and when to come back. */
export interface AccountUsage {
  watch(account: string, limits: AccountLimits): Promise<Place>;
  /** Before an account is exported: one at a time. To be left at the archive's end. */
  export(account: string): Promise<Place>;
  /** Before a run is started. To be left once it is recorded, or was not: from then on `countOpen` knows it. */
  start(account: string, limits: AccountLimits, countOpen: () => Promise<number>): Promise<Place>;
  /** Before a body is read. `declared`: its length, where the request says it. */
  body(account: string, limits: AccountLimits, declared: number | undefined): Promise<void>;
  /** Before a deletion is recorded. */
  delete(account: string, limits: AccountLimits): void;
  /** After a body was read whose length was not declared. */
  bodyRead(account: string, limits: AccountLimits, bytes: number): void;
}

const RETRY_AFTER_MS = 1_000;
const MAX_EXPORTS = 1;
const EXPORT_RETRY_AFTER_MS = 5_000;

interface Starting extends Place {
  readonly settled: Promise<void>;
  isSettled: boolean;
}

export interface AccountUsageOptions {
  readonly clock?: Clock;
  /** Without it this instance counts for itself. */
  readonly shared?: SharedCounts | undefined;
}

/**
 * Counts what accounts use. What the shared counts have let pass is counted here, too, so that the limits go on where this
 * instance stands when the others can't be asked any more.
 */
export function createAccountUsage({ clock = systemClock, shared }: AccountUsageOptions = {}): AccountUsage {
  const held: Readonly<Record<Held, Map<string, number>>> = { watchers: new Map(), exports: new Map() };
  const starting = new Map<string, Set<Starting>>();
  const starts = createRateMeter(clock);
  const bodies = createRateMeter(clock);
  const deletions = createRateMeter(clock);

  function begin(account: string): { readonly earlier: readonly Starting[]; readonly place: Starting } {
    const known = starting.get(account) ?? new Set<Starting>();
    starting.set(account, known);
    const earlier = [...known];
    let settle = () => {};
    const place: Starting = {
      settled: new Promise((resolve) => {
        settle = resolve;
      }),
      isSettled: false,
      leave() {
        place.isSettled = true;
        known.delete(place);
        if (known.size === 0 && starting.get(account) === known) starting.delete(account);
        settle();
      },
    };
    known.add(place);
    return { earlier, place };
  }

  async function hold(what: Held, account: string, max: number): Promise<Place | undefined> {
    const counts = held[what];
    const here = (counts.get(account) ?? 0) + 1;
    counts.set(account, here);
    const place = once(() => {
      const rest = (counts.get(account) ?? 1) - 1;
      if (rest > 0) counts.set(account, rest);
      else counts.delete(account);
      shared?.holding(what, account, rest);
    });
    const hasRoom = (await shared?.hold(what, account, here, max)) ?? here <= max;
    if (hasRoom) return place;
    place.leave();
    return undefined;
  }

  return {
    async watch(account, { maxWatchers }) {
      const place = await hold("watchers", account, maxWatchers);
      if (place) return place;
      throw limited("maxWatchers", maxWatchers, {
        why: `this account watches ${maxWatchers} streams already`,
        todo: "Close one first.",
      });
    },

    async export(account) {
      const place = await hold("exports", account, MAX_EXPORTS);
      if (place) return place;
      throw limited("maxExports", MAX_EXPORTS, {
        why: "this account is being exported already",
        todo: "Wait for that to end.",
        retryAfterMs: EXPORT_RETRY_AFTER_MS,
      });
    },

    async start(account, { maxConcurrentRuns, maxStartsPerMinute }, countOpen) {
      const take = { perMinute: maxStartsPerMinute, amount: 1, need: 1 };
      const retryAfterMs =
        (await shared?.take("starts", account, take)) ?? starts.wait(account, maxStartsPerMinute);
      if (retryAfterMs > 0) {
        throw limited("maxStartsPerMinute", maxStartsPerMinute, {
          why: `this account has started ${maxStartsPerMinute} runs within a minute`,
          todo: "Retry after the time given.",
          retryAfterMs,
        });
      }
      starts.spend(account, maxStartsPerMinute, 1);
      const { earlier, place } = begin(account);
      try {
        for (;;) {
          // Asked before the count: who is recorded in between is counted twice and waited for, never missed.
          const before = earlier.filter(({ isSettled }) => !isSettled);
          const open = await countOpen();
          if (open + before.length < maxConcurrentRuns) return place;
          if (before.length === 0) {
            throw limited("maxConcurrentRuns", maxConcurrentRuns, {
              why: `this account has ${maxConcurrentRuns} runs open already`,
              todo: "Wait for one to end, or stop one.",
            });
          }
          // Only starts that came before, so none waits in a circle.
          await Promise.race(before.map(({ settled }) => settled));
        }
      } catch (error) {
        place.leave();
        throw error;
      }
    },

    async body(account, { maxBodyBytes, maxBodyBytesPerMinute }, declared) {
      // What is larger than a body may be is refused unread.
      const amount = declared !== undefined && declared > 0 && declared <= maxBodyBytes ? declared : 0;
      const take = { perMinute: maxBodyBytesPerMinute, amount, need: 1 };
      const retryAfterMs =
        (await shared?.take("bodies", account, take)) ?? bodies.wait(account, maxBodyBytesPerMinute);
      if (retryAfterMs > 0) {
        throw limited("maxBodyBytesPerMinute", maxBodyBytesPerMinute, {
          why: `this account has sent ${maxBodyBytesPerMinute} bytes within a minute`,
          todo: "Send less, or retry after the time given.",
          retryAfterMs,
        });
      }
      if (amount > 0) bodies.spend(account, maxBodyBytesPerMinute, amount);
    },

    delete(account, { maxDeletionsPerMinute }) {
      const retryAfterMs = deletions.wait(account, maxDeletionsPerMinute);
      if (retryAfterMs > 0) {
        throw limited("maxDeletionsPerMinute", maxDeletionsPerMinute, {
          why: `this account has asked for ${maxDeletionsPerMinute} deletions within a minute`,
          todo: "Retry after the time given.",
          retryAfterMs,
        });
      }
      deletions.spend(account, maxDeletionsPerMinute, 1);
    },

    bodyRead(account, { maxBodyBytesPerMinute: perMinute }, bytes) {
      bodies.spend(account, perMinute, bytes);
      void shared?.take("bodies", account, { perMinute, amount: bytes });
    },
  };
}

function once(leave: () => void): Place {
  let isLeft = false;
  return {
    leave() {
      if (isLeft) return;
      isLeft = true;
      leave();
    },
  };
}

function limited(
  limit: keyof AccountLimits | "maxExports",
  max: number,
  about: { readonly why: string; readonly todo: string; readonly retryAfterMs?: number },
): ThroughlineError {
  const { why, todo, retryAfterMs = RETRY_AFTER_MS } = about;
  return new ThroughlineError("rate_limited", `${limit}: ${why}. ${todo}`, {
    details: { limit, max, retryAfterMs },
  });
}

/** How much of something an account took of late: what it may take in a minute is filled up again as time passes. */
export interface RateMeter {
  /** 0 when `need` may be taken now; else how many milliseconds from now it may. */
  wait(account: string, perMinute: number, need?: number): number;
  /** May take more than there is: then the next one waits for longer. */
  spend(account: string, perMinute: number, amount: number): void;
}

interface Level {
  readonly left: number;
  readonly at: number;
}

const MINUTE_MS = 60_000;
/** Accounts remembered before those who took nothing for a minute are forgotten. */
const REMEMBERED = 10_000;

export function createRateMeter(clock: Clock): RateMeter {
  let levels = new Map<string, Level>();
  let forgotAt = clock.now();

  function left(account: string, perMinute: number): number {
    const level = levels.get(account);
    if (!level) return perMinute;
    const now = clock.now();
    // A clock that was put back takes nothing away, and what comes back is counted from there.
    if (level.at > now) levels.set(account, { ...level, at: now });
    const refilled = (Math.max(0, now - level.at) * perMinute) / MINUTE_MS;
    return Math.min(perMinute, level.left + refilled);
  }

  function forgetIdle(): void {
    const now = clock.now();
    if (levels.size <= REMEMBERED || now - forgotAt < MINUTE_MS) return;
    forgotAt = now;
    levels = new Map([...levels].filter(([, { at, left: rest }]) => now - at < MINUTE_MS || rest < 0));
  }

  return {
    wait(account, perMinute, need = 1) {
      const missing = Math.min(need, perMinute) - left(account, perMinute);
      return missing <= 0 ? 0 : Math.max(1, Math.ceil((missing * MINUTE_MS) / perMinute));
    },
    spend(account, perMinute, amount) {
      forgetIdle();
      levels.set(account, { left: left(account, perMinute) - amount, at: clock.now() });
    },
  };
}
/** What is taken by the minute. */
export type Meter = "starts" | "bodies";

export interface Take {
  readonly perMinute: number;
  readonly amount: number;
  /** How much must be left for anything to be taken. Absent: it is taken in any case, and the next one waits for longer. */
  readonly need?: number;
}

/** What is held for a while, then given back. */
export type Held = "watchers" | "exports";

/**
 * What accounts use on all instances together. `undefined` says that the others can't be asked right now: then each instance
 * counts for itself.
 */
export interface SharedCounts {
  /** 0 when it was taken, else how many milliseconds from now it may be. */
  take(meter: Meter, account: string, take: Take): Promise<number | undefined>;
  /** Whether there is room for that many here, beside those of other instances. */
  hold(what: Held, account: string, here: number, max: number): Promise<boolean | undefined>;
  /** One was given back, or was not let in: this many are here now. */
  holding(what: Held, account: string, here: number): void;
  close(): void;
}
