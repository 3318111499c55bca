import type { Clock } from "@throughline/ai-core";
import { createNamedTimers } from "./named-timers.js";
import { once } from "./once.js";

export interface ThreadKeeperOptions {
  readonly clock: Clock;
  /** How long a thread is kept that nothing uses. `Infinity`: for ever. */
  readonly gcTime: number;
  /** Something beside what is counted still uses it. */
  readonly isUsed: (key: string) => boolean;
  readonly letGo: (key: string) => void;
}

/** Counts who uses a thread, and lets go of it a while after the last did. */
export function createThreadKeeper({ clock, gcTime, isUsed, letGo }: ThreadKeeperOptions) {
  const users = new Map<string, number>();
  const timers = createNamedTimers<string>(clock, (key) => {
    if (isUsed(key)) wait(key);
    else letGo(key);
  });

  function wait(key: string): void {
    if (!users.has(key)) timers.set(key, gcTime);
  }

  return {
    /** A thread that is there and has no user yet. */
    wait,
    retain(key: string): () => void {
      users.set(key, (users.get(key) ?? 0) + 1);
      timers.set(key, undefined);
      return once(() => {
        const left = (users.get(key) ?? 1) - 1;
        if (left > 0) users.set(key, left);
        else {
          users.delete(key);
          wait(key);
        }
      });
    },
    close: () => timers.clearAll(),
  };
}
