"use client";

import type { ReactNode } from "react";
import { Button } from "./button";
import styles from "./status.module.css";

/** The error of a list that could not be loaded, with a retry button. */
export function ErrorState(props: { readonly message: string; readonly onRetry: () => void }): ReactNode {
  return (
    <div className={styles.problem} role="alert">
      <p>{props.message}</p>
      <Button onClick={props.onRetry}>Try again</Button>
    </div>
  );
}

/** The error of a panel that could not be loaded, with a retry button. */
export function PanelErrorState(props: {
  readonly message: string;
  readonly onRetry: () => void;
}): ReactNode {
  return (
    <div className={styles.panelProblemProblem} role="alert">
      <p>{props.message}</p>
      <Button onClick={props.onRetry}>Try again</Button>
    </div>
  );
}

interface SkeletonProps {
  /** Names the awaited content for screen readers. */
  readonly label: string;
  readonly lines?: number;
  readonly className?: string;
}

/** A loading skeleton. Fades in late, so that a fast load shows no flash. */
export function Skeleton({ label, lines = 3, className }: SkeletonProps): ReactNode {
  return (
    <div className={[styles.skeleton, className].filter(Boolean).join(" ")} role="status">
      <span className="visually-hidden">{label}</span>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are identical and have no other key
        <span key={line} className={styles.line} aria-hidden="true" />
      ))}
    </div>
  );
}

export type Status = "idle" | "running" | "waiting" | "scheduled" | "error";

/** Labels of statuses: colour alone is not accessible. */
export const STATUS_LABELS: Readonly<Record<Status, string>> = {
  idle: "Idle",
  running: "Running",
  waiting: "Waiting for you",
  scheduled: "Scheduled",
  error: "Failed",
};

export function StatusDot({ status }: { readonly status: Status }): ReactNode {
  return <span className={`${styles.dot} ${styles[status]}`} role="img" aria-label={STATUS_LABELS[status]} />;
}
