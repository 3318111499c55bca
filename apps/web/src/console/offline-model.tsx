"use client";

import { type ReactNode, useId, useRef, useState } from "react";
import { Icon } from "../design/icon";
import { placeMenu } from "../design/menu-position";
import { ConnectModel } from "./connect-model";
import styles from "./offline-model.module.css";

const WORDS = "Offline scripted model";

interface OfflineModelProps {
  /**
   * On a phone by a sign alone: in a header it comes after the page, and its words would break the header into two lines and move
   * everything below.
   */
  readonly isCompact?: boolean;
}

/** Says that no model answers, and how to connect one. */
export function OfflineModel({ isCompact = false }: OfflineModelProps): ReactNode {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={styles.badge}
        data-compact={isCompact}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-controls={id}
        popoverTarget={id}
        title={WORDS}
      >
        <Icon name="model" size={14} />
        <span className={styles.words}>{WORDS}</span>
      </button>
      <div
        id={id}
        popover="auto"
        role="dialog"
        aria-label={WORDS}
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
