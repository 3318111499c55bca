import type { ReactNode } from "react";
import styles from "./panel-section.module.css";

interface PanelSectionProps {
  readonly title: string;
  readonly note?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a tab. */
export function PanelSection({ title, note, children }: PanelSectionProps): ReactNode {
  return (
    <section className={styles.section}>
      <header className={styles.head}>
        <h2 className={styles.title}>{title}</h2>
        {note !== undefined && <span className={styles.note}>{note}</span>}
      </header>
      {children}
    </section>
  );
}
