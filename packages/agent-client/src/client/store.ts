import { isPageHidden } from "./environment.js";

/** A store for React's `useSyncExternalStore`: the value retains its identity until listeners are notified of another. */
export interface Store<T> {
  getSnapshot(): T;
  subscribe(listener: () => void): () => void;
}

/** Calls back once, when the next frame can be drawn. Returns a function that cancels the callback. */
export type FrameScheduler = (callback: () => void) => () => void;

/** Fallback for a page that is hidden before its frame comes. */
const NO_FRAME_MS = 250;

/**
 * Schedules on an animation frame where there is one and the page is visible, else on a timer. A hidden page gets no animation
 * frames and would not be notified until it is visible again.
 */
export const nextAnimationFrame: FrameScheduler = (callback) => {
  const hasFrames = typeof requestAnimationFrame === "function" && !isPageHidden();
  const frame = hasFrames ? requestAnimationFrame(run) : undefined;
  const timer = setTimeout(run, frame === undefined ? 0 : NO_FRAME_MS);

  function cancel(): void {
    clearTimeout(timer);
    if (frame !== undefined) cancelAnimationFrame(frame);
  }
  function run(): void {
    cancel();
    callback();
  }
  return cancel;
};

export interface Notifier {
  /** Adds a listener. Returns a function that removes it. */
  subscribe(listener: () => void): () => void;
  hasListeners(): boolean;
  /** Marks the value as changed: each listener is called once per frame, however often this is called. */
  changed(): void;
  close(): void;
}

export function createNotifier(schedule: FrameScheduler, beforeNotify: () => void): Notifier {
  const listeners = new Set<() => void>();
  let isDue = false;
  let cancel: (() => void) | undefined;

  function notify(): void {
    isDue = false;
    beforeNotify();
    for (const listener of [...listeners]) listener();
  }

  return {
    subscribe(listener) {
      const own = () => listener();
      listeners.add(own);
      return () => listeners.delete(own);
    },
    hasListeners: () => listeners.size > 0,
    changed() {
      if (isDue) return;
      // Before it is scheduled: a scheduler may call back at once.
      isDue = true;
      cancel = schedule(notify);
    },
    close() {
      cancel?.();
      listeners.clear();
    },
  };
}

/** Returns the previous value if all fields of the new one equal it, so that `===` shows that nothing changed. */
export function retainIdentity<T extends object>(before: T | undefined, now: T): T {
  if (!before) return now;
  for (const name in now) if (now[name] !== before[name]) return now;
  return before;
}

/** Wraps a function so that only the first call runs it. */
export function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
}
