"use client";

import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from "react";
import { createShortcutRegistry, type Shortcut, type ShortcutRegistry } from "./shortcut-registry";

export const ShortcutContext = createContext<ShortcutRegistry>(createShortcutRegistry());

/**
 * While mounted, `keys` (`mod+k`, `?`, `g c`) run the handler, and the list of shortcuts and the palette name it. `undefined`
 * keys: not right now. Single letters do nothing while a text field has the focus.
 */
export function useShortcut(keys: string | undefined, label: string, handler: () => void): void {
  const registry = useContext(ShortcutContext);
  const newest = useRef(handler);
  useEffect(() => {
    newest.current = handler;
  });
  useEffect(() => {
    if (keys === undefined) return;
    return registry.add({ keys, label, run: () => newest.current() });
  }, [registry, keys, label]);
}

/** All that can be pressed right now. */
export function useShortcuts(): readonly Shortcut[] {
  const registry = useContext(ShortcutContext);
  return useSyncExternalStore(registry.subscribe, registry.getSnapshot, none);
}

const NONE: readonly Shortcut[] = [];
function none(): readonly Shortcut[] {
  return NONE;
}
