import type { ReactNode } from "react";
import styles from "./progress-bar.module.css";

interface ProgressBarProps {
  /** From 0 to 1. */
  readonly share: number;
  /** What it is the progress of. */
  readonly label: string | undefined;
  readonly className?: string | undefined;
}

/** A hairline that fills. */
export function ProgressBar({ share, label, className }: ProgressBarProps): ReactNode {
  const names = [styles.progress, className].filter(Boolean).join(" ");
  return <progress className={names} max={1} value={share} aria-label={label} />;
}
