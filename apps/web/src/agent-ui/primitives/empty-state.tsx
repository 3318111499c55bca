import type { ReactNode } from "react";
import styles from "./empty-state.module.css";

export interface EmptyStateProps {
  readonly title: string;
  /** What the list would contain, and how an entry gets there. */
  readonly children: ReactNode;
  readonly actions?: ReactNode;
  /** It is the only content of the page, so its title is the `h1`. */
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
