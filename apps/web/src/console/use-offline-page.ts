"use client";

import { useEffect } from "react";

/**
 * Lets the browser show a page of ours while the console's server is away. Browsers allow it over HTTPS and on this machine;
 * elsewhere the browser's own page shows.
 */
export function useOfflinePage(): void {
  useEffect(() => {
    if (process.env.NODE_ENV !== "production" || !("serviceWorker" in navigator)) return;
    const timer = setTimeout(
      () => navigator.serviceWorker.register("/offline-worker.js").catch(() => {}),
      2_000,
    );
    return () => clearTimeout(timer);
  }, []);
}
