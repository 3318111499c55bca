/** What the page knows of its own circumstances. */
export interface Surroundings {
  isHidden(): boolean;
  isOnline(): boolean;
  /** Calls back on each change of either. */
  subscribe(listener: () => void): () => void;
}

/** The browser's, where there is one; else always seen and online. */
export const pageSurroundings: Surroundings = {
  isHidden: () => typeof document !== "undefined" && document.visibilityState === "hidden",
  isOnline: () => typeof navigator === "undefined" || navigator.onLine !== false,
  subscribe(listener) {
    if (typeof document === "undefined" || typeof window === "undefined") return () => {};
    const watched = [
      [document, "visibilitychange"],
      [window, "pageshow"],
      [window, "online"],
      [window, "offline"],
    ] as const;
    for (const [target, type] of watched) target.addEventListener(type, listener);
    return () => {
      for (const [target, type] of watched) target.removeEventListener(type, listener);
    };
  },
};
