import { useEffect, useRef } from "react";
import { shallowEqual } from "./shallow-equal.js";

interface Held {
  readonly about: readonly unknown[];
  readonly letGo: (() => void) | undefined;
  due: ReturnType<typeof setTimeout> | undefined;
}

/**
 * Holds what `take` gives while mounted, and lets go a moment after: effects that are undone and done again at once, as
 * StrictMode and hot reloading do, hold on. Taken anew when `about` changes, the new before the old is let go.
 */
export function useHeld(take: () => (() => void) | undefined, about: readonly unknown[]): void {
  const ref = useRef<Held>(undefined);
  useEffect(() => {
    const before = ref.current;
    clearTimeout(before?.due);
    if (!before || !shallowEqual(before.about, about)) {
      ref.current = { about, letGo: take(), due: undefined };
      before?.letGo?.();
    }
    return () => {
      const held = ref.current;
      if (!held) return;
      held.due = setTimeout(() => {
        ref.current = undefined;
        held.letGo?.();
      }, 0);
    };
    // biome-ignore lint/correctness/useExhaustiveDependencies: the caller says what `take` is made of.
  }, about);
}
