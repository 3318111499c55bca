"use client";

import type { ReactNode } from "react";
import { useAgentCatalog } from "../console/use-agent-catalog";
import { Button } from "../design/button";
import { Skeleton } from "../design/skeleton";
import { AgentEntry } from "./agent-entry";
import styles from "./agent-list.module.css";

export function AgentList(): ReactNode {
  const { agents, problem, refresh } = useAgentCatalog();
  if (agents) {
    return (
      <ul className={styles.list}>
        {agents.map((agent) => (
          <AgentEntry key={agent.id} agent={agent} />
        ))}
      </ul>
    );
  }
  if (!problem) return <Skeleton label="Loading agents" lines={6} className={styles.loading ?? ""} />;
  return (
    <div className={styles.problem} role="alert">
      <p>{problem.message}</p>
      <Button onClick={refresh}>Try again</Button>
    </div>
  );
}
