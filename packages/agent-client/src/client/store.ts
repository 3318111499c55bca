import { isPageHidden } from "./environment.js";

/** As React's `useSyncExternalStore` wants it: the same value until a listener was told of another. */
export interface Store<T> {
  getSnapshot(): T;
  subscribe(listener: () => void): () => void;
}

/** Calls back once at the next good moment to draw. Returns what takes the wish back. */
export type FrameScheduler = (callback: () => void) => () => void;

/** A page that is hidden before its frame comes is told after this. */
const NO_FRAME_MS = 250;

/**
 * An animation frame where there is one and the page is visible; else soon. A hidden page gets no animation frames, and would
 * learn nothing until it is looked at.
 */
export const nextFrame: FrameScheduler = (callback) => {
  const hasFrames = typeof requestAnimationFrame === "function" && !isPageHidden();
  const frame = hasFrames ? requestAnimationFrame(tell) : undefined;
  const timer = setTimeout(tell, frame === undefined ? 0 : NO_FRAME_MS);

  function cancel(): void {
    clearTimeout(timer);
    if (frame !== undefined) cancelAnimationFrame(frame);
  }
  function tell(): void {
    cancel();
    callback();
  }
  return cancel;
};

export interface Notifier {
  /** What it returns takes the listener off. */
  subscribe(listener: () => void): () => void;
  isHeard(): boolean;
  /** However often it changed: one call of every listener a frame. */
  changed(): void;
  close(): void;
}

export function createNotifier(schedule: FrameScheduler, beforeTelling: () => void): Notifier {
  const listeners = new Set<() => void>();
  let isDue = false;
  let cancel: (() => void) | undefined;

  function tell(): void {
    isDue = false;
    beforeTelling();
    for (const listener of [...listeners]) listener();
  }

  return {
    subscribe(listener) {
      const own = () => listener();
      listeners.add(own);
      return () => listeners.delete(own);
    },
    isHeard: () => listeners.size > 0,
    changed() {
      if (isDue) return;
      // Before it is scheduled: a scheduler may call back at once.
      isDue = true;
      cancel = schedule(tell);
    },
    close() {
      cancel?.();
      listeners.clear();
    },
  };
}
/** The value before, if all fields of the new one are the same there: who compares with `===` sees that nothing changed. */
export function keepSame<T extends object>(before: T | undefined, now: T): T {
  if (!before) return now;
  for (const name in now) if (now[name] !== before[name]) return now;
  return before;
}
/** Calls the function the first time it is called itself, and never again. */
export function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
}
