import type { ReactNode } from "react";
import styles from "./skeleton.module.css";

interface SkeletonProps {
  /** What is awaited, for screen readers. */
  readonly label: string;
  readonly lines?: number;
  readonly className?: string;
}

/** The shape of what is about to be here. Fades in late: what loads at once never flashes. */
export function Skeleton({ label, lines = 3, className }: SkeletonProps): ReactNode {
  return (
    <div className={[styles.skeleton, className].filter(Boolean).join(" ")} role="status">
      <span className="visually-hidden">{label}</span>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are nothing but their place
        <span key={line} className={styles.line} aria-hidden="true" />
      ))}
    </div>
  );
}
