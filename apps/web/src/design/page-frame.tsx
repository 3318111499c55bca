import type { ReactNode } from "react";
import styles from "./page-frame.module.css";

interface PageFrameProps {
  readonly title: ReactNode;
  readonly lead?: ReactNode;
  readonly above?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** One column with a heading, what can be done, and the rest. */
export function PageFrame({ title, lead, above, actions, children }: PageFrameProps): ReactNode {
  return (
    <div className={styles.scroller}>
      <div className={styles.page}>
        {above !== undefined && <div className={styles.above}>{above}</div>}
        <header className={styles.head}>
          <div className={styles.words}>
            <h1>{title}</h1>
            {lead !== undefined && <div className={styles.lead}>{lead}</div>}
          </div>
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        </header>
        {children}
      </div>
    </div>
  );
}
