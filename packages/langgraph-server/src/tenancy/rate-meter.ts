import type { Clock } from "@throughline/ai-core";

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
