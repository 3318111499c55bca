"use client";

import { type ReactNode, useSyncExternalStore } from "react";
import styles from "./kbd.module.css";

/** A shortcut as it is printed on this machine's keys. */
export function Kbd({ keys }: { readonly keys: string }): ReactNode {
  const isApple = useSyncExternalStore(never, isAppleHere, () => false);
  return (
    <span className={styles.keys}>
      {keyWords(keys, isApple).map((key) => (
        <kbd key={key} className={styles.key}>
          {key}
        </kbd>
      ))}
    </span>
  );
}

function never(): () => void {
  return () => {};
}

function isAppleHere(): boolean {
  return /mac|iphone|ipad/i.test(navigator.platform);
}
const APPLE: Readonly<Record<string, string>> = { mod: "⌘", shift: "⇧", alt: "⌥", enter: "↵" };
const OTHERS: Readonly<Record<string, string>> = { mod: "Ctrl", shift: "Shift", alt: "Alt", enter: "Enter" };
const EVERYWHERE: Readonly<Record<string, string>> = {
  escape: "Esc",
  arrowup: "↑",
  arrowdown: "↓",
  arrowleft: "←",
  arrowright: "→",
};

/** The keys of `mod+k`, or of `g c`, one after the other. */
export function keyWords(keys: string, isApple: boolean): readonly string[] {
  const words = isApple ? APPLE : OTHERS;
  return keys.split(/[+ ]/).map((key) => words[key] ?? EVERYWHERE[key] ?? key.toUpperCase());
}
