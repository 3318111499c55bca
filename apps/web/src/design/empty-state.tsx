import type { ReactNode } from "react";
import styles from "./empty-state.module.css";

interface EmptyStateProps {
  readonly title: string;
  /** What would be here, and how it comes to be. */
  readonly children: ReactNode;
  readonly actions?: ReactNode;
  /** It is all that the page has. */
  readonly isPage?: boolean;
}

export function EmptyState({ title, children, actions, isPage }: EmptyStateProps): ReactNode {
  return (
    <div className={styles.empty}>
      {isPage ? <h1 className={styles.title}>{title}</h1> : <h2 className={styles.title}>{title}</h2>}
      <p className={styles.text}>{children}</p>
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}
