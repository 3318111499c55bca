import { tellFew } from "./tell-few";

interface Beat {
  readonly listeners: Set<() => void>;
  readonly timer: ReturnType<typeof setInterval>;
}

const beats = new Map<number, Beat>();

/** Calls back every so many milliseconds: one timer for all callbacks of the same interval, and none without a callback. */
export function sharedInterval(periodMs: number, listener: () => void): () => void {
  const beat = beats.get(periodMs) ?? start(periodMs);
  const own = () => listener();
  beat.listeners.add(own);
  return () => {
    beat.listeners.delete(own);
    if (beat.listeners.size > 0 || beats.get(periodMs) !== beat) return;
    clearInterval(beat.timer);
    beats.delete(periodMs);
  };
}

function start(periodMs: number): Beat {
  const listeners = new Set<() => void>();
  // A long thread shows hundreds of times, many of which change with the same minute.
  const timer = setInterval(tellFew, periodMs, listeners);
  const beat = { listeners, timer };
  beats.set(periodMs, beat);
  return beat;
}
