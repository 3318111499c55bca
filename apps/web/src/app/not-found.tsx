import Link from "next/link";
import type { ReactNode } from "react";
import { EmptyState } from "../agent-ui/primitives/empty-state";
import styles from "./lone-page.module.css";

export default function NotFound(): ReactNode {
  return (
    <main className={styles.page}>
      <EmptyState
        isPage
        title="There is nothing here"
        actions={
          <Link href="/" className={styles.link}>
            Go to all agents
          </Link>
        }
      >
        The address may be mistyped, or what it led to was deleted.
      </EmptyState>
    </main>
  );
}
