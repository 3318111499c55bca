import { isForPage, matchKeys, pressName } from "./shortcut-keys";

export interface Shortcut {
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
