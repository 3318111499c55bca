"use client";

import { useCallback, useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
/** Values set on this page. They apply also where the browser stores nothing. */
const here = new Map<string, string | null>();

function subscribe(listener: () => void): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    if (key === null) here.clear();
    else here.delete(key);
    listener();
  };
  listeners.add(listener);
  window.addEventListener("storage", onStorage);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", onStorage);
  };
}

/** Reads the text that this browser stores under a key. `null`: none. */
function readStoredText(key: string): string | null {
  return here.has(key) ? (here.get(key) ?? null) : readStored(key);
}

/** Stores a text and notifies all subscribers. `null`: deletes it. */
function storeText(key: string, text: string | null): void {
  here.set(key, text);
  store(key, text);
  for (const notify of [...listeners]) notify();
}

/** A text stored by this browser, shared by all of its tabs. `null`: none. */
export function useStoredText(
  key: string,
): readonly [text: string | null, set: (text: string | null) => void] {
  const text = useSyncExternalStore(
    subscribe,
    () => readStoredText(key),
    () => null,
  );
  const set = useCallback((next: string | null) => storeText(key, next), [key]);
  return [text, set];
}

/** A flag stored by this browser, such as whether a panel is open. */
export function useStoredFlag(name: string): readonly [isOn: boolean, set: (isOn: boolean) => void] {
  const [text, setText] = useStoredText(`throughline:${name}`);
  const set = useCallback((next: boolean) => setText(next ? "1" : "0"), [setText]);
  return [text === "1", set];
}
/** Reads from `localStorage`. `null` where the browser stores nothing for this page, as with blocked site data. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Writes to `localStorage`; `null` deletes. A full or blocked storage refuses: then the value lasts until the page closes. */
export function store(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // See above.
  }
}
