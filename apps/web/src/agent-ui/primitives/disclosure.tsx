"use client";

import type { ReactNode } from "react";
import styles from "./disclosure.module.css";
import { Icon } from "./icon";

interface DisclosureProps {
  /** One line, which is also the button. */
  readonly summary: ReactNode;
  readonly children: ReactNode;
  /** With `onToggle`, the parent decides; without, this is only the initial state. */
  readonly isOpen?: boolean;
  readonly onToggle?: (isOpen: boolean) => void;
  readonly className?: string;
}

/** Collapsible content under a summary line. */
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

interface DisclosureRowProps {
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  /** The id of the element that it expands. */
  readonly controls: string;
  readonly disabled?: boolean;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/**
 * A row of a conversation that expands. It is a button next to the element it controls, not `details`: collapsed content is
 * not rendered at all, and a thread has hundreds of such rows.
 */
export function DisclosureRow({
  isOpen,
  onToggle,
  controls,
  disabled = false,
  className,
  children,
}: DisclosureRowProps): ReactNode {
  return (
    <button
      type="button"
      className={[styles.row, className].filter(Boolean).join(" ")}
      aria-expanded={isOpen}
      aria-controls={controls}
      disabled={disabled}
      onClick={onToggle}
    >
      <span className={styles.disclosureRowChevron} data-open={isOpen}>
        <Icon name="chevronRight" size={12} />
      </span>
      {children}
    </button>
  );
}
