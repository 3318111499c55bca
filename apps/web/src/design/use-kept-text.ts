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

/** What this browser remembers under a key. `null`: nothing. */
function readKeptText(key: string): string | null {
  return here.has(key) ? (here.get(key) ?? null) : readStored(key);
}

/** Remembers a text, and tells all who show it. `null`: deletes. */
function keepText(key: string, text: string | null): void {
  here.set(key, text);
  store(key, text);
  for (const tell of [...listeners]) tell();
}

/** A text that this browser remembers, the same in all of its tabs. `null`: none. */
export function useKeptText(key: string): readonly [text: string | null, set: (text: string | null) => void] {
  const text = useSyncExternalStore(
    subscribe,
    () => readKeptText(key),
    () => null,
  );
  const set = useCallback((next: string | null) => keepText(key, next), [key]);
  return [text, set];
}
