"use client";

import type { ReactNode } from "react";
import { Dialog } from "../agent-ui/primitives/dialog";
import { Kbd } from "../agent-ui/primitives/kbd";
import styles from "./shortcut-list.module.css";
import { useShortcuts } from "./shortcuts";

/** Dialog that lists the shortcuts of the current page. */
export function ShortcutList({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactNode {
  const shortcuts = useShortcuts();
  // The newest shortcut of a key is the effective one.
  const effective = [...new Map(shortcuts.map((shortcut) => [shortcut.keys, shortcut])).values()];
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Shortcuts" size="small">
      <dl className={styles.list}>
        {effective.map(({ keys, label }) => (
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
