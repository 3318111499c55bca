import type { ReactNode } from "react";
import styles from "./fold-row.module.css";
import { Icon } from "./icon";

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
      <span className={styles.chevron} data-open={isOpen}>
        <Icon name="chevronRight" size={12} />
      </span>
      {children}
    </button>
  );
}
