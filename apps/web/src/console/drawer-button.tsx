"use client";

import { createContext, type ReactNode, useContext } from "react";
import { IconButton } from "../design/button";
import styles from "./drawer-button.module.css";

export interface Drawer {
  readonly isOpen: boolean;
  open(): void;
}

export const DrawerContext = createContext<Drawer>({ isOpen: false, open() {} });

/**
 * Opens the sidebar where there is no room for it. A page that has a bar of its own puts this first in it, and the console's
 * bar goes away.
 */
export function DrawerButton(): ReactNode {
  const { isOpen, open } = useContext(DrawerContext);
  return (
    <span className={styles.place} data-drawer-button="">
      <IconButton
        icon="menu"
        label="Agents and threads"
        aria-expanded={isOpen}
        aria-controls="sidebar"
        onClick={open}
      />
    </span>
  );
}
