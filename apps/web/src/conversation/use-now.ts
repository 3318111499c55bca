"use client";

import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = 0;

/** One timer for everything that ticks, and none while nothing does. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    timer = setInterval(() => {
      now = Date.now();
      for (const tell of listeners) tell();
    }, 1_000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const keepStill = () => () => {};
const never = () => 0;

/** Milliseconds since the Unix epoch, told anew each second while it matters; else 0. */
export function useNow(isTicking: boolean): number {
  return useSyncExternalStore(isTicking ? subscribe : keepStill, isTicking ? readNow : never, never);
}

function readNow(): number {
  // Read before anybody listens: the same within a second, else React would take each reading for a change.
  if (timer === undefined && Date.now() - now > 1_000) now = Date.now();
  return now;
}
