"use client";

import { useSyncExternalStore } from "react";
import { sharedInterval } from "./shared-interval";

let ticking = 0;
let now = 0;

function subscribe(listener: () => void): () => void {
  ticking += 1;
  const stop = sharedInterval(1_000, () => {
    now = Date.now();
    listener();
  });
  return () => {
    ticking -= 1;
    stop();
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
  if (ticking === 0 && Date.now() - now > 1_000) now = Date.now();
  return now;
}
