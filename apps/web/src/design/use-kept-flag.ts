"use client";

import { useCallback, useSyncExternalStore } from "react";

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}

/** Whether something is open, remembered by this browser. */
export function useKeptFlag(name: string): readonly [isOn: boolean, set: (isOn: boolean) => void] {
  const key = `throughline:${name}`;
  const isOn = useSyncExternalStore(
    subscribe,
    () => localStorage.getItem(key) === "1",
    () => false,
  );
  const set = useCallback(
    (next: boolean) => {
      localStorage.setItem(key, next ? "1" : "0");
      for (const tell of listeners) tell();
    },
    [key],
  );
  return [isOn, set];
}
