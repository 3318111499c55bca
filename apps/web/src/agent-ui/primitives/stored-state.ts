"use client";

import { useCallback, useSyncExternalStore } from "react";

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

/** Whether something is open, remembered by this browser. */
export function useKeptFlag(name: string): readonly [isOn: boolean, set: (isOn: boolean) => void] {
  const [text, setText] = useKeptText(`throughline:${name}`);
  const set = useCallback((next: boolean) => setText(next ? "1" : "0"), [setText]);
  return [text === "1", set];
}
/** `null` where the browser keeps nothing for this page, as with site data blocked. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** A browser that is full, or keeps nothing, refuses: then it counts until the page closes, and no longer. `null`: deletes. */
export function store(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // See above.
  }
}
