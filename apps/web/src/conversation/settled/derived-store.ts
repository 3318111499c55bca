import type { Store } from "@throughline/agent-client";

export interface DerivedStore<T> extends Store<T> {
  /** `about`: the id of a message, run or tool call, for a listener that shows nothing else. */
  subscribe(listener: () => void, about?: string): () => void;
}

/** By listener, what it is about; `undefined`: anything. */
export type Listeners = ReadonlyMap<() => void, string | undefined>;

/**
 * A store of what `read` gives, which changes with `source` alone. It listens to `source` while it has listeners itself, and
 * has `tell` call them when the value is another.
 */
export function derivedStore<T>(
  source: Store<unknown>,
  read: () => T,
  tell: (listeners: Listeners, before: T, now: T) => void,
): DerivedStore<T> {
  const listeners = new Map<() => void, string | undefined>();
  let leave: (() => void) | undefined;
  let told: T;

  function notice(): void {
    const [before, now] = [told, read()];
    if (now === before) return;
    told = now;
    tell(listeners, before, now);
  }

  return {
    getSnapshot: read,
    subscribe(listener, about) {
      const own = () => listener();
      listeners.set(own, about);
      if (!leave) {
        leave = source.subscribe(notice);
        told = read();
      }
      return () => {
        listeners.delete(own);
        if (listeners.size > 0) return;
        leave?.();
        leave = undefined;
      };
    },
  };
}
