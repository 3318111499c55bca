"use client";

import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from "react";

interface Shortcut {
  /** `mod+k`, `?`, or two presses one after the other: `g c`. */
  readonly keys: string;
  /** What it does, as the list of shortcuts says it. */
  readonly label: string;
  readonly run: () => void;
}

export interface ShortcutRegistry {
  add(shortcut: Shortcut): () => void;
  getSnapshot(): readonly Shortcut[];
  subscribe(listener: () => void): () => void;
  /** Listens to a page until what it returns is called. */
  listen(page: Window): () => void;
}

/** How long the second press of two may take. */
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

      function hear(event: KeyboardEvent): void {
        if (event.defaultPrevented || event.repeat || event.isComposing) return;
        if (["Shift", "Control", "Meta", "Alt"].includes(event.key)) return;
        const name = pressName(event);
        // A dialog has the page's keys to itself.
        if (!isForPage(name, isTyping(event.target)) || page.document.querySelector("dialog:modal")) return;
        presses = event.timeStamp - lastAt > SEQUENCE_MS ? [name] : [...presses, name];
        lastAt = event.timeStamp;
        if (!answer(event) && presses.length > 1) {
          // No second press of anything: it may be the first of something.
          presses = [name];
          answer(event);
        }
      }

      function answer(event: KeyboardEvent): boolean {
        // The newest first: a page may take a key that the console has too.
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

      page.addEventListener("keydown", hear);
      return () => page.removeEventListener("keydown", hear);
    },
  };
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}
/** The part of a key press that tells which shortcut it is. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** A press as shortcuts are written: `mod+k`, `?`, `shift+enter`. `mod` is ⌘ or Ctrl, whichever a person is used to. */
function pressName({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyPress): string {
  // What Shift made of a sign is in the key already: `?` is `?` on every keyboard.
  const isSign = key.length === 1 && !/[a-z]/i.test(key);
  const parts = [
    (ctrlKey || metaKey) && "mod",
    altKey && "alt",
    shiftKey && !isSign && "shift",
    key.toLowerCase(),
  ];
  return parts.filter(Boolean).join("+");
}

/** A letter or sign alone belongs to whatever is being typed; with `mod`, and Escape, it is meant for the page. */
function isForPage(name: string, isTyping: boolean): boolean {
  return !isTyping || name.includes("mod+");
}

export type KeyMatch = "whole" | "begun" | "none";

/** How far the presses so far go: `g` begins `g c`. */
function matchKeys(keys: string, presses: readonly string[]): KeyMatch {
  const wanted = keys.split(" ");
  const fits = presses.length <= wanted.length && presses.every((press, place) => press === wanted[place]);
  if (!fits) return "none";
  return presses.length === wanted.length ? "whole" : "begun";
}

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
