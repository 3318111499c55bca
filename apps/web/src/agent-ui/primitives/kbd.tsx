"use client";

import { type ReactNode, useSyncExternalStore } from "react";
import styles from "./kbd.module.css";

/** A shortcut with the key names of this platform. */
export function Kbd({ keys }: { readonly keys: string }): ReactNode {
  const isApple = useSyncExternalStore(never, isAppleHere, () => false);
  return (
    <span className={styles.keys}>
      {keyLabels(keys, isApple).map((key) => (
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

/** The key labels of a chord such as `mod+k` or a sequence such as `g c`, in order. */
export function keyLabels(keys: string, isApple: boolean): readonly string[] {
  const words = isApple ? APPLE : OTHERS;
  return keys.split(/[+ ]/).map((key) => words[key] ?? EVERYWHERE[key] ?? key.toUpperCase());
}
