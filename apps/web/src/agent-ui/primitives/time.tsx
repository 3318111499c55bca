"use client";

import { type ReactNode, useCallback, useSyncExternalStore } from "react";
import { tellFew } from "./notify-in-batches";

interface RelativeTimeProps {
  /** Milliseconds since the Unix epoch, or how the service writes a time. */
  readonly at: number | string;
  readonly className?: string;
}

/** A time as one would say it, with the exact one behind it. It goes along with the clock, and is drawn anew when its words are others. */
export function RelativeTime({ at, className }: RelativeTimeProps): ReactNode {
  const time = typeof at === "number" ? at : Date.parse(at);
  const read = () => relativeWords(time, Date.now());
  // As it ages its words change ever more seldom, and whenever that happens it is drawn, and asks again how often.
  const period = wordsChangeAfter(time, Date.now());
  const subscribe = useCallback((listener: () => void) => sharedInterval(period, listener), [period]);
  const words = useSyncExternalStore(subscribe, read, read);
  if (Number.isNaN(time)) return null;
  return (
    // What a server wrote is older by the time a browser reads it.
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

/** A format costs far more to make than to use, and a long thread has hundreds of times. */
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

/** How long ago, or how soon, in as few letters as can be read at a glance: "now", "5 min", "in 10 s", "3 Feb". */
export function relativeWords(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance >= WEEK) return day.format(at);
  const amount = amountOf(distance, at > now);
  if (amount === undefined) return "now";
  return at > now ? `in ${amount}` : amount;
}

/** Counted in whole units that have passed, or, of what is to come, that are left: it is never "in 0 s". */
function amountOf(distance: number, isAhead: boolean): string | undefined {
  const count = isAhead ? Math.ceil : Math.floor;
  // What just happened is "now" for a while, so that nothing counts up in the corner of an eye.
  if (distance < (isAhead ? SECOND / 2 : 10 * SECOND)) return undefined;
  if (distance < MINUTE) return `${count(distance / SECOND)} s`;
  if (distance < HOUR) return `${count(distance / MINUTE)} min`;
  if (distance < DAY) return `${count(distance / HOUR)} h`;
  return `${count(distance / DAY)} d`;
}

/** How long the words stay true. */
export function wordsChangeAfter(at: number, now: number): number {
  const distance = Math.abs(now - at);
  if (distance < 2 * MINUTE) return SECOND;
  return distance < 2 * HOUR ? 15 * SECOND : 10 * MINUTE;
}

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

interface ElapsedProps {
  /** Seconds since the Unix epoch. */
  readonly startedAt: number;
  readonly endedAt: number | null;
}

/** How long it took, or has taken so far. Hidden from screen readers, which would never stop reading it. */
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
/** In words short enough for a row: `0.3 s`, `12 s`, `4 min 8 s`, `2 h 5 min`. */
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
