import type { ReactNode } from "react";
import styles from "./status.module.css";

export interface ProgressBarProps {
  /** From 0 to 1. */
  readonly share: number;
  /** Names the task for screen readers. */
  readonly label: string | undefined;
  readonly className?: string | undefined;
}

/** A thin progress bar. */
export function ProgressBar({ share, label, className }: ProgressBarProps): ReactNode {
  const names = [styles.progress, className].filter(Boolean).join(" ");
  return <progress className={names} max={1} value={share} aria-label={label} />;
}
