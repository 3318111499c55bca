import type { Clock, Timer } from "@throughline/ai-core";
import type { CommandOutcome } from "../commands/command.js";

/** The page's environment: whether it is visible, online and running. */
export interface Surroundings {
  isHidden(): boolean;
  isOnline(): boolean;
  /** Whether the browser suspends timers and requests of the hidden page. Absent: never. */
  isFrozen?(): boolean;
  /** Calls back whenever any of them changes. */
  subscribe(listener: () => void): () => void;
}

/** The browser's page, where there is one; elsewhere always visible and online. */
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
      const onEvent = ({ type }: Event) => {
        // No property exposes it: only these two events do.
        isFrozen = type === "freeze" || (isFrozen && type !== "resume");
        listener();
      };
      for (const [target, type] of watched) target.addEventListener(type, onEvent);
      return () => {
        for (const [target, type] of watched) target.removeEventListener(type, onEvent);
      };
    },
  };
}

export function isPageHidden(): boolean {
  return typeof document !== "undefined" && document.visibilityState === "hidden";
}

/** The browser's clock. Not imported from ai-core, whose module would add its schemas to every page. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(ms, callback) {
    const handle = setTimeout(callback, ms);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Creates a set of timers, one per name: setting one again reschedules it. */
export function createNamedTimers<Name extends string>(clock: Clock, due: (name: Name) => void) {
  const timers = new Map<Name, Timer>();
  function clear(name: Name): void {
    timers.get(name)?.cancel();
    timers.delete(name);
  }
  return {
    /** Sets the timer. `undefined` or `Infinity` clears it. */
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

/** Hooks that count events of the connection. Every hook is optional and must not throw. */
export interface Telemetry {
  /** The service had another run for a command. */
  readonly busy?: (about: { readonly commandId: string; readonly runId: string | undefined }) => void;
  /** A command was resent: the thread was not free, or whether it had arrived was not known. */
  readonly replayed?: (about: { readonly commandId: string }) => void;
  /** Frames were dropped: their stream had lost its right to write. */
  readonly staleDropped?: (count: number) => void;
  readonly duplicateDropped?: (count: number) => void;
  readonly commandCompleted?: (about: {
    readonly commandId: string;
    readonly kind: string;
    readonly outcome: CommandOutcome["kind"];
    readonly ms: number;
  }) => void;
  readonly reconnecting?: (about: { readonly attempt: number; readonly waitMs: number }) => void;
  /** Missed frames could not be replayed; a snapshot replaces them. */
  readonly gap?: () => void;
  /** A frame did not fit the projection; the thread is requested from the beginning. */
  readonly misfit?: (type: string) => void;
  /** Tabs can't share a stream, because the browser has no Web Locks or no BroadcastChannel: each opens its own. */
  readonly unshared?: () => void;
}
