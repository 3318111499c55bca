"use client";

import { useCallback, useSyncExternalStore } from "react";
import { readStored, store } from "./browser-storage";

const listeners = new Set<() => void>();
/** What was set on this page: counts also where the browser stores nothing. */
const here = new Map<string, string | null>();

function subscribe(listener: () => void): () => void {
  const hear = ({ key }: StorageEvent) => {
    if (key === null) here.clear();
    else here.delete(key);
    listener();
  };
  listeners.add(listener);
  window.addEventListener("storage", hear);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", hear);
  };
}

/** A text that this browser remembers, the same in all of its tabs. `null`: none. */
export function useKeptText(key: string): readonly [text: string | null, set: (text: string | null) => void] {
  const text = useSyncExternalStore(
    subscribe,
    () => (here.has(key) ? (here.get(key) ?? null) : readStored(key)),
    () => null,
  );
  const set = useCallback(
    (next: string | null) => {
      here.set(key, next);
      store(key, next);
      for (const tell of [...listeners]) tell();
    },
    [key],
  );
  return [text, set];
}
