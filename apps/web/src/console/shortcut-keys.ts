/** The part of a key press that tells which shortcut it is. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** A press as shortcuts are written: `mod+k`, `?`, `shift+enter`. `mod` is ⌘ or Ctrl, whichever a person is used to. */
export function pressName({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyPress): string {
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
export function isForPage(name: string, isTyping: boolean): boolean {
  return !isTyping || name.includes("mod+");
}

export type KeyMatch = "whole" | "begun" | "none";

/** How far the presses so far go: `g` begins `g c`. */
export function matchKeys(keys: string, presses: readonly string[]): KeyMatch {
  const wanted = keys.split(" ");
  const fits = presses.length <= wanted.length && presses.every((press, place) => press === wanted[place]);
  if (!fits) return "none";
  return presses.length === wanted.length ? "whole" : "begun";
}
