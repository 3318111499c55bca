"use client";

import type { ReactNode } from "react";
import styles from "./lone-page.module.css";

/** Error boundary of the console itself. Uses plain elements only, since every page loads it. */
export default function ConsoleError(): ReactNode {
  return (
    <main className={styles.page}>
      <div className={styles.broken}>
        <h1>The console ran into a problem</h1>
        <p>Nothing is lost: runs go on, and everything said is kept by the service.</p>
        <button type="button" className={styles.link} onClick={() => location.reload()}>
          Reload the page
        </button>
      </div>
    </main>
  );
}
