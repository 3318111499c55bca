"use client";

import type { ReactNode } from "react";
import { Dialog } from "../agent-ui/primitives/dialog";
import { Kbd } from "../agent-ui/primitives/kbd";
import styles from "./shortcut-list.module.css";
import { useShortcuts } from "./shortcuts";

/** All that can be pressed on the page one comes from. */
export function ShortcutList({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactNode {
  const shortcuts = useShortcuts();
  // The newest of a key is the one that is heard.
  const heard = [...new Map(shortcuts.map((shortcut) => [shortcut.keys, shortcut])).values()];
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Shortcuts" size="small">
      <dl className={styles.list}>
        {heard.map(({ keys, label }) => (
          <div key={keys} className={styles.row}>
            <dt>{label}</dt>
            <dd>
              <Kbd keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
      <p className={styles.hint}>
        Letters do nothing while you type. Escape leaves a field, a menu or a dialog.
      </p>
    </Dialog>
  );
}
