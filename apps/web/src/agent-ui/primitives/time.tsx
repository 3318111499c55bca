"use client";

import { type ReactNode, useCallback, useSyncExternalStore } from "react";
import { notifyInBatches } from "./notify-in-batches";

interface RelativeTimeProps {
  /** Milliseconds since the Unix epoch, or a time as the service formats it. */
  readonly at: number | string;
  readonly className?: string;
}

/** A relative time, with the exact one as tooltip. It follows the clock and rerenders when its text changes. */
export function RelativeTime({ at, className }: RelativeTimeProps): ReactNode {
  const time = typeof at === "number" ? at : Date.parse(at);
  const read = () => formatRelativeTime(time, Date.now());
  // An older time changes its text less often. Each change rerenders and so recomputes the period.
  const period = wordsChangeAfter(time, Date.now());
  const subscribe = useCallback((listener: () => void) => sharedInterval(period, listener), [period]);
  const words = useSyncExternalStore(subscribe, read, read);
  if (Number.isNaN(time)) return null;
  return (
    // Text rendered by the server is older by the time the browser hydrates it.
    <time
      dateTime={new Date(time).toISOString()}
      title={exactly(time)}
      className={className}
      suppressHydrationWarning
    >
      {words}
    </time>
  );
}

let format: Intl.DateTimeFormat | undefined;

/** Formats a time exactly. The format is created once, which costs far more than its use: a long thread has hundreds of times. */
function exactly(time: number): string {
  format ??= new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  return format.format(time);
}
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });

/** Formats a distance in time as briefly as possible: "now", "5 min", "in 10 s", "3 Feb". */
export function formatRelativeTime(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance >= WEEK) return day.format(at);
  const amount = amountOf(distance, at > now);
  if (amount === undefined) return "now";
  return at > now ? `in ${amount}` : amount;
}

/** The distance in whole units: rounded down for the past, up for the future, so that it is never "in 0 s". */
function amountOf(distance: number, isAhead: boolean): string | undefined {
  const count = isAhead ? Math.ceil : Math.floor;
  // A recent event is "now" for a while, so that no visible counter distracts.
  if (distance < (isAhead ? SECOND / 2 : 10 * SECOND)) return undefined;
  if (distance < MINUTE) return `${count(distance / SECOND)} s`;
  if (distance < HOUR) return `${count(distance / MINUTE)} min`;
  if (distance < DAY) return `${count(distance / HOUR)} h`;
  return `${count(distance / DAY)} d`;
}

/** The period, in milliseconds, after which the relative text may differ. */
export function wordsChangeAfter(at: number, now: number): number {
  const distance = Math.abs(now - at);
  if (distance < 2 * MINUTE) return SECOND;
  return distance < 2 * HOUR ? 15 * SECOND : 10 * MINUTE;
}

interface SharedTimer {
  readonly listeners: Set<() => void>;
  readonly timer: ReturnType<typeof setInterval>;
}

const sharedTimers = new Map<number, SharedTimer>();

/** Calls a listener periodically. All listeners of the same period share one timer, which exists only while there are any. */
export function sharedInterval(periodMs: number, listener: () => void): () => void {
  const sharedTimer = sharedTimers.get(periodMs) ?? start(periodMs);
  const own = () => listener();
  sharedTimer.listeners.add(own);
  return () => {
    sharedTimer.listeners.delete(own);
    if (sharedTimer.listeners.size > 0 || sharedTimers.get(periodMs) !== sharedTimer) return;
    clearInterval(sharedTimer.timer);
    sharedTimers.delete(periodMs);
  };
}

function start(periodMs: number): SharedTimer {
  const listeners = new Set<() => void>();
  // A long thread shows hundreds of times, many of which change in the same minute.
  const timer = setInterval(notifyInBatches, periodMs, listeners);
  const sharedTimer = { listeners, timer };
  sharedTimers.set(periodMs, sharedTimer);
  return sharedTimer;
}
