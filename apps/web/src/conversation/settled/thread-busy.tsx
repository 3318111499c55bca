"use client";

import { createContext, type ReactNode, useContext, useDeferredValue } from "react";
import type { SettledThread } from "./settled-thread";
import { useSettledThread } from "./use-settled-thread";

const ThreadBusyContext = createContext(false);

/**
 * Tells every answer of the thread whether a run is under way. All of them show it, so a run that begins or ends renders as
 * many buttons as there are answers: deferred, which React does in slices that leave room for input and tokens.
 */
export function ThreadBusyProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const isBusy = useDeferredValue(useSettledThread(isRunning));
  return <ThreadBusyContext value={isBusy}>{children}</ThreadBusyContext>;
}

/** Whether a run is under way, as of a moment ago. */
export function useIsThreadBusy(): boolean {
  return useContext(ThreadBusyContext);
}

function isRunning({ run }: SettledThread): boolean {
  return run?.status === "running";
}
