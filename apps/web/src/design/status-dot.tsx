import type { ReactNode } from "react";
import styles from "./status-dot.module.css";

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
