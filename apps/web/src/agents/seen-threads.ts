"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import * as z from "zod/mini";
import { readStored, store } from "../agent-ui/primitives/stored-state";
import type { ThreadRow } from "../data/thread-lists";

/** Which threads a person has seen, and when. */
export interface SeenThreads {
  /** Whatever happened before is no news. */
  readonly since: number;
  readonly at: Readonly<Record<string, number>>;
}

type Named = Pick<ThreadRow, "agentId" | "threadName"> & Partial<Pick<ThreadRow, "visibility">>;

/** So many are remembered; what was seen longest ago is forgotten into `since`. */
const REMEMBERED = 200;

const seenSchema = z.object({ since: z.number(), at: z.record(z.string(), z.number()) });

/** What was stored, or a beginning at which nothing is unread. */
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

interface Place {
  readonly agentId: string;
  readonly threadName: string;
  readonly visibility?: "account" | undefined;
}

/** What this account has seen in this browser. The thread at `place` counts as seen while its page is visible. */
export function useSeenThreads(account: string, place: Place | undefined): SeenThreads | undefined {
  const key = `throughline:seen:${account}`;
  const [seen, setSeen] = useState<SeenThreads>();
  // Where the browser stores nothing, what was seen counts until the page closes.
  const here = useRef<string>(null);
  const agentId = place?.agentId;
  const threadName = place?.threadName;
  const visibility = place?.visibility;

  const update = useCallback(
    (change: (seen: SeenThreads) => SeenThreads) => {
      // From the store each time: another tab may have seen something in between.
      const next = change(readSeen(readStored(key) ?? here.current, Date.now()));
      here.current = JSON.stringify(next);
      store(key, here.current);
      setSeen(next);
    },
    [key],
  );

  useEffect(() => {
    update((before) => before);
    const hear = (event: StorageEvent) => event.key === key && setSeen(readSeen(event.newValue, Date.now()));
    addEventListener("storage", hear);
    return () => removeEventListener("storage", hear);
  }, [key, update]);

  useEffect(() => {
    if (agentId === undefined || threadName === undefined) return;
    // At the moment they turn away or come back, too: whatever happened until then, or is shown from then on, they see.
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
