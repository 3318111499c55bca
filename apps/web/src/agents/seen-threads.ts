"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import * as z from "zod/mini";
import { readStored, store } from "../agent-ui/primitives/stored-state";
import type { ThreadRow } from "../data/thread-lists";

/** Threads that a person has seen, with the time of each. */
export interface SeenThreads {
  /** Activity before this time counts as seen. */
  readonly since: number;
  readonly at: Readonly<Record<string, number>>;
}

type Named = Pick<ThreadRow, "agentId" | "threadName"> & Partial<Pick<ThreadRow, "visibility">>;

/** Number of threads that are stored; dropping the oldest raises `since` to its time. */
const REMEMBERED = 200;

const seenSchema = z.object({ since: z.number(), at: z.record(z.string(), z.number()) });

/** Parses the stored value; without a valid one, nothing is unread as of `now`. */
export function readSeen(stored: string | null, now: number): SeenThreads {
  try {
    return seenSchema.parse(JSON.parse(stored ?? ""));
  } catch {
    return { since: now, at: {} };
  }
}

export function isUnread(seen: SeenThreads, row: ThreadRow): boolean {
  return row.lastActivityAt > (seen.at[keyOf(row)] ?? seen.since);
}

export function markSeen(seen: SeenThreads, thread: Named, now: number): SeenThreads {
  const entries = Object.entries({ ...seen.at, [keyOf(thread)]: now }).sort(([, a], [, b]) => b - a);
  const [oldest] = entries.slice(REMEMBERED);
  return {
    since: Math.max(seen.since, oldest?.[1] ?? 0),
    at: Object.fromEntries(entries.slice(0, REMEMBERED)),
  };
}

function keyOf({ agentId, threadName, visibility }: Named): string {
  return JSON.stringify([agentId, threadName, ...(visibility === undefined ? [] : [visibility])]);
}

interface OpenThread {
  readonly agentId: string;
  readonly threadName: string;
  readonly visibility?: "account" | undefined;
}

/** Returns what this account has seen in this browser. `openThread` counts as seen while its page is visible. */
export function useSeenThreads(account: string, openThread: OpenThread | undefined): SeenThreads | undefined {
  const key = `throughline:seen:${account}`;
  const [seen, setSeen] = useState<SeenThreads>();
  // Fallback where the browser stores nothing; lost when the page closes.
  const here = useRef<string>(null);
  const agentId = openThread?.agentId;
  const threadName = openThread?.threadName;
  const visibility = openThread?.visibility;

  const update = useCallback(
    (change: (seen: SeenThreads) => SeenThreads) => {
      // Read from storage each time: another tab may have written in between.
      const next = change(readSeen(readStored(key) ?? here.current, Date.now()));
      here.current = JSON.stringify(next);
      store(key, here.current);
      setSeen(next);
    },
    [key],
  );

  useEffect(() => {
    update((before) => before);
    const onStorage = (event: StorageEvent) =>
      event.key === key && setSeen(readSeen(event.newValue, Date.now()));
    addEventListener("storage", onStorage);
    return () => removeEventListener("storage", onStorage);
  }, [key, update]);

  useEffect(() => {
    if (agentId === undefined || threadName === undefined) return;
    // Marked on both visibility changes: all activity until the page was hidden was visible, and the rest is once it is shown.
    const mark = () => update((before) => markSeen(before, { agentId, threadName, visibility }, Date.now()));
    const leave = () => document.visibilityState === "visible" && mark();
    mark();
    document.addEventListener("visibilitychange", mark);
    addEventListener("pagehide", leave);
    return () => {
      leave();
      removeEventListener("pagehide", leave);
      document.removeEventListener("visibilitychange", mark);
    };
  }, [agentId, threadName, visibility, update]);

  return seen;
}
