import { type Clock, systemClock, ThroughlineError } from "@throughline/ai-core";

/**
 * The limits of one account. Open runs are counted over all instances; rates per minute, watchers and exports over all instances
 * with shared counts, and else on each instance by itself.
 */
export interface AccountLimits {
  readonly maxBodyBytes: number;
  /** Content parts of all messages of one request; stock clients send the whole conversation each time. */
  readonly maxContentParts: number;
  readonly maxConcurrentRuns: number;
  readonly maxWatchers: number;
  readonly maxStartsPerMinute: number;
  readonly maxBodyBytesPerMinute: number;
  /** Deletions of threads, people and the account itself. */
  readonly maxDeletionsPerMinute: number;
  /** The envelopes that one attempt of a run may write to the log; past that it ends as `too_large`. */
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

/** A unit of a limited resource, released by its holder. */
export interface Permit {
  leave(): void;
}

/** Admits what accounts use. Every refusal is `rate_limited`, with the limit's name and value and when to retry. */
export interface AccountLimiter {
  watch(account: string, limits: AccountLimits): Promise<Permit>;
  /** Before an account is exported: one at a time. To be released at the archive's end. */
  export(account: string): Promise<Permit>;
  /** Before a run is started. To be released once it is recorded or refused: from then on `countOpen` includes it. */
  start(account: string, limits: AccountLimits, countOpen: () => Promise<number>): Promise<Permit>;
  /** Before a body is read. `declared`: its length by the request, if any. */
  body(account: string, limits: AccountLimits, declared: number | undefined): Promise<void>;
  /** Before a deletion is recorded. */
  delete(account: string, limits: AccountLimits): void;
  /** After a body was read whose length was not declared. */
  bodyRead(account: string, limits: AccountLimits, bytes: number): void;
}

const RETRY_AFTER_MS = 1_000;
const MAX_EXPORTS = 1;
const EXPORT_RETRY_AFTER_MS = 5_000;

interface Starting extends Permit {
  readonly released: Promise<void>;
  isReleased: boolean;
}

export interface AccountLimiterOptions {
  readonly clock?: Clock;
  /** Without it this instance counts for itself. */
  readonly shared?: SharedCounters | undefined;
}

/**
 * Counts what accounts use. Units that the shared counts admitted are counted here, too, so that the limits continue from this
 * instance's own counts when the shared ones can't be read any more.
 */
export function createAccountLimiter({
  clock = systemClock,
  shared,
}: AccountLimiterOptions = {}): AccountLimiter {
  const held: Readonly<Record<Held, Map<string, number>>> = { watchers: new Map(), exports: new Map() };
  const starting = new Map<string, Set<Starting>>();
  const starts = createTokenBuckets(clock);
  const bodies = createTokenBuckets(clock);
  const deletions = createTokenBuckets(clock);

  function begin(account: string): { readonly earlier: readonly Starting[]; readonly permit: Starting } {
    const known = starting.get(account) ?? new Set<Starting>();
    starting.set(account, known);
    const earlier = [...known];
    let release = () => {};
    const permit: Starting = {
      released: new Promise((resolve) => {
        release = resolve;
      }),
      isReleased: false,
      leave() {
        permit.isReleased = true;
        known.delete(permit);
        if (known.size === 0 && starting.get(account) === known) starting.delete(account);
        release();
      },
    };
    known.add(permit);
    return { earlier, permit };
  }

  async function hold(what: Held, account: string, max: number): Promise<Permit | undefined> {
    const counts = held[what];
    const here = (counts.get(account) ?? 0) + 1;
    counts.set(account, here);
    const permit = once(() => {
      const rest = (counts.get(account) ?? 1) - 1;
      if (rest > 0) counts.set(account, rest);
      else counts.delete(account);
      shared?.holding(what, account, rest);
    });
    const isAdmitted = (await shared?.hold(what, account, here, max)) ?? here <= max;
    if (isAdmitted) return permit;
    permit.leave();
    return undefined;
  }

  return {
    async watch(account, { maxWatchers }) {
      const permit = await hold("watchers", account, maxWatchers);
      if (permit) return permit;
      throw limited("maxWatchers", maxWatchers, {
        why: `this account watches ${maxWatchers} streams already`,
        todo: "Close one first.",
      });
    },

    async export(account) {
      const permit = await hold("exports", account, MAX_EXPORTS);
      if (permit) return permit;
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
      const { earlier, permit } = begin(account);
      try {
        for (;;) {
          // Read before the count: a start recorded in between is counted twice and waited for, never missed.
          const before = earlier.filter(({ isReleased }) => !isReleased);
          const open = await countOpen();
          if (open + before.length < maxConcurrentRuns) return permit;
          if (before.length === 0) {
            throw limited("maxConcurrentRuns", maxConcurrentRuns, {
              why: `this account has ${maxConcurrentRuns} runs open already`,
              todo: "Wait for one to end, or stop one.",
            });
          }
          // Only starts that came before, so none waits in a circle.
          await Promise.race(before.map(({ released }) => released));
        }
      } catch (error) {
        permit.leave();
        throw error;
      }
    },

    async body(account, { maxBodyBytes, maxBodyBytesPerMinute }, declared) {
      // A body above the limit is refused unread.
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

function once(leave: () => void): Permit {
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

/** Token buckets: each account's bucket holds a minute's amount and is refilled as time passes. */
export interface TokenBuckets {
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

export function createTokenBuckets(clock: Clock): TokenBuckets {
  let levels = new Map<string, Level>();
  let forgotAt = clock.now();

  function left(account: string, perMinute: number): number {
    const level = levels.get(account);
    if (!level) return perMinute;
    const now = clock.now();
    // A clock that was set back removes nothing, and refills count from there.
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
/** Kinds of token buckets, refilled by the minute. */
export type Meter = "starts" | "bodies";

export interface Take {
  readonly perMinute: number;
  readonly amount: number;
  /** How much must be left for anything to be taken. Absent: it is taken in any case, and the next one waits for longer. */
  readonly need?: number;
}

/** Kinds of permits: held for a while, then released. */
export type Held = "watchers" | "exports";

/**
 * Counts of what accounts use on all instances together. `undefined`: the shared counts can't be read right now, and each
 * instance counts for itself.
 */
export interface SharedCounters {
  /** 0 when it was taken, else how many milliseconds from now it may be. */
  take(meter: Meter, account: string, take: Take): Promise<number | undefined>;
  /** Whether that many here are within the limit, added to those of other instances. */
  hold(what: Held, account: string, here: number, max: number): Promise<boolean | undefined>;
  /** One was released, or was not admitted: this many are here now. */
  holding(what: Held, account: string, here: number): void;
  close(): void;
}
