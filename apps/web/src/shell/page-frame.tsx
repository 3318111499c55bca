import type { ReactNode } from "react";
import styles from "./page-frame.module.css";

interface PageFrameProps {
  readonly title: ReactNode;
  readonly lead?: ReactNode;
  readonly above?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Page layout: one column with a heading, its actions and the content. */
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

interface PanelSectionProps {
  readonly title: string;
  readonly note?: ReactNode;
  readonly children: ReactNode;
}

/** A titled section of a tab. */
export function PanelSection({ title, note, children }: PanelSectionProps): ReactNode {
  return (
    <section className={styles.section}>
      <header className={styles.panelSectionHead}>
        <h2 className={styles.title}>{title}</h2>
        {note !== undefined && <span className={styles.note}>{note}</span>}
      </header>
      {children}
    </section>
  );
}

/** The logo, a line with a point on it: a log and a position in it. */
export function Logo({ size = 28 }: { readonly size?: number }): ReactNode {
  return (
    <svg width={size} height={size} viewBox="0 0 28 28" role="img" aria-label="Throughline">
      <path d="M2 14h24" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
      <circle cx="17" cy="14" r="5" fill="var(--accent)" stroke="var(--paper)" strokeWidth="2" />
    </svg>
  );
}
