"use client";

import type { ReactNode } from "react";
import styles from "./disclosure.module.css";
import { Icon } from "./icon";

interface DisclosureProps {
  /** One line; it is the button. */
  readonly summary: ReactNode;
  readonly children: ReactNode;
  /** With `onToggle`, the parent decides; without, this is only the initial state. */
  readonly isOpen?: boolean;
  readonly onToggle?: (isOpen: boolean) => void;
  readonly className?: string;
}

/** Something that can be folded away. */
export function Disclosure({ summary, children, isOpen, onToggle, className }: DisclosureProps): ReactNode {
  return (
    <details
      className={[styles.disclosure, className].filter(Boolean).join(" ")}
      {...(isOpen !== undefined && { open: isOpen })}
      onToggle={(event) => {
        const opens = event.currentTarget.open;
        if (opens !== isOpen) onToggle?.(opens);
      }}
    >
      <summary className={styles.summary}>
        <span className={styles.chevron}>
          <Icon name="chevronRight" size={14} />
        </span>
        {summary}
      </summary>
      {children}
    </details>
  );
}
