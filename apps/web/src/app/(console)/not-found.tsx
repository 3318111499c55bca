import Link from "next/link";
import type { ReactNode } from "react";
import { EmptyState } from "../../agent-ui/primitives/empty-state";
import styles from "../lone-page.module.css";

export default function NotFound(): ReactNode {
  return (
    <EmptyState
      isPage
      title="There is nothing here"
      actions={
        <Link href="/" className={styles.link}>
          Go to all agents
        </Link>
      }
    >
      No agent or page has this address. Pick one from the list of agents.
    </EmptyState>
  );
}
