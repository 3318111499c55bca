"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { useCallback, useMemo, useSyncExternalStore } from "react";
import { NOTHING_SETTLED, type SettledThread, settledThread } from "./settled-thread";

/** A part of what has settled: never asked for while nothing but text comes. Keep `select` the same between renders. */
export function useSettledThread<T>(
  select: (settled: SettledThread) => T,
  isEqual?: (a: T, b: T) => boolean,
): T {
  return useSettled(undefined, select, isEqual);
}

/** What has settled of one message, run or tool call: asked for only when something of that one changed. */
export function useSettledPart<T>(
  id: string,
  select: (settled: SettledThread, id: string) => T,
  isEqual?: (a: T, b: T) => boolean,
): T {
  return useSettled(
    id,
    useCallback((settled: SettledThread) => select(settled, id), [select, id]),
    isEqual,
  );
}

function useSettled<T>(
  about: string | undefined,
  select: (settled: SettledThread) => T,
  isEqual: (a: T, b: T) => boolean = Object.is,
): T {
  const store = settledThread(useThreadHandle());
  const subscribe = useCallback((listener: () => void) => store.subscribe(listener, about), [store, about]);
  const [read, readOnServer] = useMemo(() => {
    let last: { readonly settled: SettledThread; readonly value: T } | undefined;
    function read(settled: SettledThread): T {
      if (last?.settled === settled) return last.value;
      const next = select(settled);
      last = { settled, value: last && isEqual(last.value, next) ? last.value : next };
      return last.value;
    }
    return [() => read(store.getSnapshot()), () => read(NOTHING_SETTLED)];
  }, [store, select, isEqual]);
  return useSyncExternalStore(subscribe, read, readOnServer);
}
