export interface Timer {
  cancel(): void;
}

/** Time as an argument: logic reads a clock, so a test can control it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls back once, `ms` from now, unless cancelled. */
  schedule(ms: number, callback: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(ms, callback) {
    const handle = setTimeout(callback, ms);
    return { cancel: () => clearTimeout(handle) };
  },
};

export interface SimulatedClock extends Clock {
  /** Advances time and fires the due timers in order of their times, including those that callbacks schedule up to then. */
  advance(ms: number): void;
  /** The number of waiting timers. */
  pending(): number;
}

interface Waiting {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Creates a clock whose time changes only by `advance`. Public, so that people can test their own code against ours. */
export function createSimulatedClock(startMs = 0): SimulatedClock {
  let now = startMs;
  let order = 0;
  const waiting = new Set<Waiting>();

  function nextDue(until: number): Waiting | undefined {
    let next: Waiting | undefined;
    for (const timer of waiting) {
      if (timer.at > until) continue;
      if (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer;
    }
    return next;
  }

  return {
    now: () => now,
    schedule(ms, callback) {
      const timer: Waiting = { at: now + Math.max(0, ms), order: order++, callback };
      waiting.add(timer);
      return { cancel: () => void waiting.delete(timer) };
    },
    advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`A clock only moves forward; got ${ms} ms.`);
      const until = now + ms;
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        waiting.delete(timer);
        now = timer.at;
        timer.callback();
      }
      now = until;
    },
    pending: () => waiting.size,
  };
}
