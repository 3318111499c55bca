"use client";

import type { ReactNode } from "react";
import { Button } from "../design/button";
import styles from "./more-threads.module.css";

interface MoreThreadsProps {
  readonly count: number;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly problem: Error | undefined;
  readonly onMore: () => void;
}

/** At the end of a list that goes on: how much of it is there, and a way to the rest. */
export function MoreThreads({ count, hasMore, isLoading, problem, onMore }: MoreThreadsProps): ReactNode {
  return (
    <div className={styles.more}>
      {hasMore && (
        // Not disabled while it loads: a disabled button loses the focus.
        <Button look="quiet" className={styles.button} aria-disabled={isLoading} onClick={onMore}>
          {isLoading ? "Loading…" : "Show more"}
        </Button>
      )}
      <p className={styles.count} role="status">
        {problem ? problem.message : `${count} shown`}
      </p>
    </div>
  );
}
