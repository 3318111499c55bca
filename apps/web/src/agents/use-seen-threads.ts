"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import { readStored, store } from "../design/browser-storage";
import { markSeen, readSeen, type SeenThreads } from "./seen-threads";

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
