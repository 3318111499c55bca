"use client";

import { useCallback, useSyncExternalStore } from "react";
import { readStored, store } from "./browser-storage";

const listeners = new Set<() => void>();
/** What was set on this page: counts also where the browser stores nothing. */
const here = new Map<string, boolean>();

function subscribe(listener: () => void): () => void {
  const hear = ({ key }: StorageEvent) => {
    if (key !== null) here.delete(key);
    listener();
  };
  listeners.add(listener);
  window.addEventListener("storage", hear);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", hear);
  };
}

/** Whether something is open, remembered by this browser. */
export function useKeptFlag(name: string): readonly [isOn: boolean, set: (isOn: boolean) => void] {
  const key = `throughline:${name}`;
  const isOn = useSyncExternalStore(
    subscribe,
    () => here.get(key) ?? readStored(key) === "1",
    () => false,
  );
  const set = useCallback(
    (next: boolean) => {
      here.set(key, next);
      store(key, next ? "1" : "0");
      for (const tell of listeners) tell();
    },
    [key],
  );
  return [isOn, set];
}
