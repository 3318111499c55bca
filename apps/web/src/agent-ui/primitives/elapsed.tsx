"use client";

import { type ReactNode, useSyncExternalStore } from "react";
import { sharedInterval } from "./time";

let ticking = 0;
let now = 0;

export interface ElapsedProps {
  /** Seconds since the Unix epoch. */
  readonly startedAt: number;
  readonly endedAt: number | null;
}

/** An elapsed time, final or running. A running one is hidden from screen readers, which would read it each second. */
export function Elapsed({ startedAt, endedAt }: ElapsedProps): ReactNode {
  const now = useNow(endedAt === null);
  // The start is not known.
  if (startedAt === 0) return null;
  const seconds = endedAt === null ? Math.floor(now / 1_000 - startedAt) : endedAt - startedAt;
  const text = formatDuration(seconds);
  return (
    <span aria-hidden={endedAt === null}>
      {endedAt === null ? text.replace("<0.1", "0").replace(".0 s", " s") : text}
    </span>
  );
}
/** Formats a duration for a row: `0.3 s`, `12 s`, `4 min 8 s`, `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, seconds);
  if (whole < 0.1) return "<0.1 s";
  if (whole < 10) return `${whole.toFixed(1)} s`;
  if (whole < 60) return `${Math.floor(whole)} s`;
  if (whole < 3_600) return join(Math.floor(whole / 60), "min", Math.floor(whole % 60), "s");
  return join(Math.floor(whole / 3_600), "h", Math.floor((whole % 3_600) / 60), "min");
}

function join(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

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

const noSubscription = () => () => {};
const never = () => 0;

/** Milliseconds since the Unix epoch, updated each second while `isTicking`; else 0. */
export function useNow(isTicking: boolean): number {
  return useSyncExternalStore(isTicking ? subscribe : noSubscription, isTicking ? readNow : never, never);
}

function readNow(): number {
  // Stable within a second without listeners, else React would treat each read as a change.
  if (ticking === 0 && Date.now() - now > 1_000) now = Date.now();
  return now;
}
