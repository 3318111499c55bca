"use client";

import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from "react";

interface Shortcut {
  /** `mod+k`, `?`, or two presses one after the other: `g c`. */
  readonly keys: string;
  /** Text in the list of shortcuts. */
  readonly label: string;
  readonly run: () => void;
}

export interface ShortcutRegistry {
  add(shortcut: Shortcut): () => void;
  getSnapshot(): readonly Shortcut[];
  subscribe(listener: () => void): () => void;
  /** Listens to a page; returns the function that stops it. */
  listen(page: Window): () => void;
}

/** Longest time between two presses of a sequence. */
const SEQUENCE_MS = 1_200;

export function createShortcutRegistry(): ShortcutRegistry {
  let shortcuts: readonly Shortcut[] = [];
  const listeners = new Set<() => void>();

  function change(next: readonly Shortcut[]): void {
    shortcuts = next;
    for (const listener of listeners) listener();
  }

  return {
    add(shortcut) {
      change([...shortcuts, shortcut]);
      return () => change(shortcuts.filter((one) => one !== shortcut));
    },
    getSnapshot: () => shortcuts,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    listen(page) {
      let presses: readonly string[] = [];
      let lastAt = 0;

      function onKeyDown(event: KeyboardEvent): void {
        if (event.defaultPrevented || event.repeat || event.isComposing) return;
        if (["Shift", "Control", "Meta", "Alt"].includes(event.key)) return;
        const name = pressName(event);
        // A modal dialog receives no page shortcuts.
        if (!isForPage(name, isTyping(event.target)) || page.document.querySelector("dialog:modal")) return;
        presses = event.timeStamp - lastAt > SEQUENCE_MS ? [name] : [...presses, name];
        lastAt = event.timeStamp;
        if (!dispatch(event) && presses.length > 1) {
          // Not the second press of a sequence: it may be the first of another.
          presses = [name];
          dispatch(event);
        }
      }

      function dispatch(event: KeyboardEvent): boolean {
        // The newest first: a page may override a key of the console.
        const newest = shortcuts.toReversed();
        const found = newest.find(({ keys }) => matchKeys(keys, presses) === "whole");
        if (found) {
          event.preventDefault();
          presses = [];
          found.run();
          return true;
        }
        const isBegun = newest.some(({ keys }) => matchKeys(keys, presses) === "begun");
        if (!isBegun && presses.length === 1) presses = [];
        return isBegun;
      }

      page.addEventListener("keydown", onKeyDown);
      return () => page.removeEventListener("keydown", onKeyDown);
    },
  };
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}
/** The part of a key press that identifies a shortcut. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** Formats a press as shortcuts are written: `mod+k`, `?`, `shift+enter`. `mod` is ⌘ or Ctrl, on every system. */
function pressName({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyPress): string {
  // A sign's key includes Shift already: `?` is `?` on every keyboard.
  const isSign = key.length === 1 && !/[a-z]/i.test(key);
  const parts = [
    (ctrlKey || metaKey) && "mod",
    altKey && "alt",
    shiftKey && !isSign && "shift",
    key.toLowerCase(),
  ];
  return parts.filter(Boolean).join("+");
}

/** Whether a press is for the page: while a person types, only one with `mod` is. */
function isForPage(name: string, isTyping: boolean): boolean {
  return !isTyping || name.includes("mod+");
}

export type KeyMatch = "whole" | "begun" | "none";

/** Matches the presses so far with a shortcut: `g` begins `g c`. */
function matchKeys(keys: string, presses: readonly string[]): KeyMatch {
  const wanted = keys.split(" ");
  const fits = presses.length <= wanted.length && presses.every((press, index) => press === wanted[index]);
  if (!fits) return "none";
  return presses.length === wanted.length ? "whole" : "begun";
}

export const ShortcutContext = createContext<ShortcutRegistry>(createShortcutRegistry());

/**
 * While mounted, `keys` (`mod+k`, `?`, `g c`) run the handler, and the list of shortcuts and the palette show it. `undefined`
 * keys: disabled. Single letters do nothing while a text field has the focus.
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

/** Returns the current shortcuts. */
export function useShortcuts(): readonly Shortcut[] {
  const registry = useContext(ShortcutContext);
  return useSyncExternalStore(registry.subscribe, registry.getSnapshot, none);
}

const NONE: readonly Shortcut[] = [];
function none(): readonly Shortcut[] {
  return NONE;
}
