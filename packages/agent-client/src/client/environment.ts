import type { Clock, Timer } from "@throughline/ai-core";
import type { CommandOutcome } from "../commands/command.js";

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

/** Written out here: ai-core's own would bring its schemas into every page. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(ms, callback) {
    const handle = setTimeout(callback, ms);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** One timer per name: arming it again moves it. */
export function createNamedTimers<Name extends string>(clock: Clock, due: (name: Name) => void) {
  const timers = new Map<Name, Timer>();
  function clear(name: Name): void {
    timers.get(name)?.cancel();
    timers.delete(name);
  }
  return {
    /** `undefined`, or a time that never comes, clears it. */
    set(name: Name, afterMs = Number.POSITIVE_INFINITY): void {
      clear(name);
      if (afterMs === Number.POSITIVE_INFINITY) return;
      const timer = clock.schedule(Math.max(0, afterMs), () => {
        timers.delete(name);
        due(name);
      });
      timers.set(name, timer);
    },
    clearAll(): void {
      for (const name of [...timers.keys()]) clear(name);
    },
  };
}

/** What happened on the connection, for the page to count. Every hook is optional and must not throw. */
export interface Telemetry {
  /** The service had another run for a command. */
  readonly busy?: (about: { readonly commandId: string; readonly runId: string | undefined }) => void;
  /** A command was sent again: the thread was not free, or whether it had arrived was not known. */
  readonly replayed?: (about: { readonly commandId: string }) => void;
  /** Frames of a stream that had lost its right to write. */
  readonly staleDropped?: (count: number) => void;
  readonly duplicateDropped?: (count: number) => void;
  readonly commandSettled?: (about: {
    readonly commandId: string;
    readonly kind: string;
    readonly outcome: CommandOutcome["kind"];
    readonly ms: number;
  }) => void;
  readonly reconnecting?: (about: { readonly attempt: number; readonly waitMs: number }) => void;
  /** What was missed could not be told frame by frame; a snapshot stands in. */
  readonly gap?: () => void;
  /** A frame did not fit what was shown; everything is asked for anew. */
  readonly misfit?: (type: string) => void;
  /** Tabs can't share here, because the browser has no Web Locks or no BroadcastChannel: each has its own stream. */
  readonly unshared?: () => void;
}
