"use client";

import { useEffect, useState } from "react";
import { useKeptFlag } from "../design/use-kept-flag";

export const NOTICES_FLAG = "notices";

/** Whether this tab is the one that notifies, of all tabs of this browser: it holds a lock until it closes. */
export function useNotifier(account: string): boolean {
  const [isWanted] = useKeptFlag(NOTICES_FLAG);
  const [isNotifier, setNotifier] = useState(false);
  useEffect(() => {
    // Neither exists where a browser does not trust the connection.
    if (!isWanted || !("locks" in navigator) || !("Notification" in window)) return;
    const waiting = new AbortController();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    navigator.locks
      .request(`throughline:notices:${account}`, { signal: waiting.signal }, () => {
        setNotifier(true);
        return held;
      })
      // The wait was given up, see below.
      .catch(() => {});
    return () => {
      waiting.abort();
      release();
      setNotifier(false);
    };
  }, [account, isWanted]);
  return isNotifier;
}
