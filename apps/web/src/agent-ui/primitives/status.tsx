"use client";

import type { ReactNode } from "react";
import { Button } from "./button";
import styles from "./status.module.css";

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

/** What a page could not get, and the way to try again. */
export function ListProblem(props: { readonly message: string; readonly onRetry: () => void }): ReactNode {
  return (
    <div className={styles.problem} role="alert">
      <p>{props.message}</p>
      <Button onClick={props.onRetry}>Try again</Button>
    </div>
  );
}

/** What could not be had, and the way to try again. */
export function PanelProblem(props: { readonly message: string; readonly onRetry: () => void }): ReactNode {
  return (
    <div className={styles.panelProblemProblem} role="alert">
      <p>{props.message}</p>
      <Button onClick={props.onRetry}>Try again</Button>
    </div>
  );
}

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

export type Status = "idle" | "running" | "waiting" | "scheduled" | "error";

/** In words: colour alone tells nothing to many. */
export const STATUS_WORDS: Readonly<Record<Status, string>> = {
  idle: "Idle",
  running: "Running",
  waiting: "Waiting for you",
  scheduled: "Scheduled",
  error: "Failed",
};

export function StatusDot({ status }: { readonly status: Status }): ReactNode {
  return <span className={`${styles.dot} ${styles[status]}`} role="img" aria-label={STATUS_WORDS[status]} />;
}

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
