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

interface FoldRowProps {
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  /** The id of what it folds away. */
  readonly controls: string;
  readonly disabled?: boolean;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/**
 * The line of a conversation behind which more lies. A button beside what it opens, not `details`: what is folded away is
 * not rendered at all, and a thread has hundreds of them.
 */
export function FoldRow({
  isOpen,
  onToggle,
  controls,
  disabled = false,
  className,
  children,
}: FoldRowProps): ReactNode {
  return (
    <button
      type="button"
      className={[styles.row, className].filter(Boolean).join(" ")}
      aria-expanded={isOpen}
      aria-controls={controls}
      disabled={disabled}
      onClick={onToggle}
    >
      <span className={styles.foldRowChevron} data-open={isOpen}>
        <Icon name="chevronRight" size={12} />
      </span>
      {children}
    </button>
  );
}
