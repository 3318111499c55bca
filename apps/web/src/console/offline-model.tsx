"use client";

import { type ReactNode, useId, useRef, useState } from "react";
import { placeMenu } from "../design/menu-position";
import { ConnectModel } from "./connect-model";
import styles from "./offline-model.module.css";

/** Says that no model answers, and how to connect one. */
export function OfflineModel(): ReactNode {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={styles.badge}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-controls={id}
        popoverTarget={id}
      >
        Offline scripted model
      </button>
      <div
        id={id}
        popover="auto"
        role="dialog"
        aria-label="Offline scripted model"
        className={styles.popover}
        onToggle={(event) => {
          const opens = event.newState === "open";
          setOpen(opens);
          if (opens && button.current) placeMenu(button.current, event.currentTarget);
        }}
      >
        <ConnectModel />
      </div>
    </>
  );
}
