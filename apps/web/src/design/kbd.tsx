"use client";

import { type ReactNode, useSyncExternalStore } from "react";
import styles from "./kbd.module.css";
import { keyWords } from "./key-words";

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
