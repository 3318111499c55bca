"use client";

import type { ReactNode } from "react";
import { Button } from "../design/button";
import styles from "./panel-problem.module.css";

/** What could not be had, and the way to try again. */
export function PanelProblem(props: { readonly message: string; readonly onRetry: () => void }): ReactNode {
  return (
    <div className={styles.problem} role="alert">
      <p>{props.message}</p>
      <Button onClick={props.onRetry}>Try again</Button>
    </div>
  );
}
