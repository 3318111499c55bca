import type { Clock, Timer } from "@throughline/ai-core";

/** One timer per name: arming it again moves it. */
export function createNamedTimers<Name extends string>(clock: Clock, due: (name: Name) => void) {
  const timers = new Map<Name, Timer>();
  function clear(name: Name): void {
    timers.get(name)?.cancel();
    timers.delete(name);
  }
  return {
    /** `undefined`, or a time that never comes, clears it. */
    set(name: Name, afterMs = Number.POSITIVE_INFINITY): void {
      clear(name);
      if (afterMs === Number.POSITIVE_INFINITY) return;
      const timer = clock.schedule(Math.max(0, afterMs), () => {
        timers.delete(name);
        due(name);
      });
      timers.set(name, timer);
    },
    clearAll(): void {
      for (const name of [...timers.keys()]) clear(name);
    },
  };
}
