"use client";

import type { ReactNode } from "react";
import ErrorPage, { type ErrorProps } from "./(console)/error";
import styles from "./lone-page.module.css";

/** The console around the pages broke. */
export default function ConsoleError(props: ErrorProps): ReactNode {
  return (
    <main className={styles.page}>
      <ErrorPage {...props} />
    </main>
  );
}
