/** Calls back once at the next good moment to draw. Returns what takes the wish back. */
export type FrameScheduler = (callback: () => void) => () => void;

/**
 * An animation frame where there is one and somebody looks; else soon. A hidden page gets no animation frames, and would
 * learn nothing until it is looked at.
 */
export const nextFrame: FrameScheduler = (callback) => {
  const isSeen = typeof document !== "undefined" && document.visibilityState === "visible";
  if (isSeen && typeof requestAnimationFrame === "function") {
    const handle = requestAnimationFrame(() => callback());
    return () => cancelAnimationFrame(handle);
  }
  const handle = setTimeout(callback, 0);
  return () => clearTimeout(handle);
};

export interface Notifier {
  /** What it returns takes the listener off, and says whether it was still there. */
  subscribe(listener: () => void): () => boolean;
  /** However often it changed: one call of every listener a frame. */
  changed(): void;
  close(): void;
}

export function createNotifier(schedule: FrameScheduler, beforeTelling: () => void): Notifier {
  const listeners = new Set<() => void>();
  let cancel: (() => void) | undefined;

  function tell(): void {
    cancel = undefined;
    beforeTelling();
    for (const listener of [...listeners]) listener();
  }

  return {
    subscribe(listener) {
      const own = () => listener();
      listeners.add(own);
      return () => listeners.delete(own);
    },
    changed() {
      cancel ??= schedule(tell);
    },
    close() {
      cancel?.();
      listeners.clear();
    },
  };
}
