/** What the page knows of its own circumstances. */
export interface Surroundings {
  isHidden(): boolean;
  isOnline(): boolean;
  /** The browser holds back timers and requests of a hidden page. Left out: never. */
  isFrozen?(): boolean;
  /** Calls back on each change of any. */
  subscribe(listener: () => void): () => void;
}

/** The browser's, where there is one; else always seen and online. */
export const pageSurroundings: Surroundings = createPageSurroundings();

function createPageSurroundings(): Surroundings {
  let isFrozen = false;
  return {
    isHidden: isPageHidden,
    isOnline: () => typeof navigator === "undefined" || navigator.onLine !== false,
    isFrozen: () => isFrozen,
    subscribe(listener) {
      if (typeof document === "undefined" || typeof window === "undefined") return () => {};
      const watched = [
        [document, "visibilitychange"],
        [document, "freeze"],
        [document, "resume"],
        [window, "pageshow"],
        [window, "online"],
        [window, "offline"],
      ] as const;
      const hear = ({ type }: Event) => {
        // No property says so: only these two events do.
        isFrozen = type === "freeze" || (isFrozen && type !== "resume");
        listener();
      };
      for (const [target, type] of watched) target.addEventListener(type, hear);
      return () => {
        for (const [target, type] of watched) target.removeEventListener(type, hear);
      };
    },
  };
}

export function isPageHidden(): boolean {
  return typeof document !== "undefined" && document.visibilityState === "hidden";
}
