"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { Button } from "../agent-ui/primitives/button";
import { EmptyState } from "../agent-ui/primitives/empty-state";
import { Icon } from "../agent-ui/primitives/icon";
import { Kbd } from "../agent-ui/primitives/kbd";
import { Skeleton, STATUS_LABELS, StatusDot } from "../agent-ui/primitives/status";
import { RelativeTime } from "../agent-ui/primitives/time";
import { type CatalogAgent, useAgentCatalog } from "../data/agents";
import { agentPath, threadPath } from "../shell/routes";
import { useAgentActivity } from "./activity";
import styles from "./home.module.css";
import { titleOf } from "./thread-pages";

/** Lists every agent with its description, its status and a link to a new thread. */
export function Home(): ReactNode {
  const { agents, problem, refresh } = useAgentCatalog();
  if (!agents && problem) {
    return (
      <EmptyState
        isPage
        title="The agents can't be listed"
        actions={<Button onClick={refresh}>Try again</Button>}
      >
        {problem.message}
      </EmptyState>
    );
  }
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>Agents</h1>
        <p>
          Start a thread, walk away, come back on another device: a run goes on without you, and everyone who
          watches sees the same.
          <span className={styles.keys}>
            {" "}
            <Kbd keys="mod+k" /> finds anything.
          </span>
        </p>
      </header>
      {agents === undefined && <Skeleton label="Loading agents" lines={6} className={styles.loading ?? ""} />}
      {agents?.length === 0 && (
        <EmptyState title="No agents yet">
          The service serves no graph. Name one in your langgraph.json, then start the service again.
        </EmptyState>
      )}
      {agents && agents.length > 0 && (
        <ul className={styles.agents}>
          {agents.map((agent) => (
            <AgentRow key={agent.id} agent={agent} />
          ))}
        </ul>
      )}
    </div>
  );
}

function AgentRow({ agent }: { readonly agent: CatalogAgent }): ReactNode {
  const { status, rows, toOpen, nextTickAt } = useAgentActivity(agent.id);
  return (
    <li className={styles.agent}>
      <span className={styles.point}>
        <StatusDot status={status} />
      </span>
      <div className={styles.what}>
        <h2 className={styles.name}>
          <Link href={agentPath(agent.id)} prefetch={false}>
            {agent.name}
          </Link>
        </h2>
        <p className={styles.description}>{agent.description || "No description in langgraph.json."}</p>
        <p className={styles.facts}>
          {/* Blank until the status is known; the non-breaking space reserves the line, so nothing moves. */}
          <span data-status={status}>{rows ? STATUS_LABELS[status] : "\u00a0"}</span>
          {nextTickAt !== undefined && (
            <span>
              next run <RelativeTime at={nextTickAt} />
            </span>
          )}
          {toOpen && (
            <Link
              href={threadPath(agent.id, toOpen.threadName, toOpen.visibility)}
              prefetch={false}
              className={styles.last}
            >
              {titleOf(toOpen)}
              <RelativeTime at={toOpen.lastActivityAt} className={styles.when ?? ""} />
            </Link>
          )}
        </p>
      </div>
      <Link
        href={agentPath(agent.id)}
        prefetch={false}
        className={styles.begin}
        aria-label={`New thread with ${agent.name}`}
      >
        <Icon name="plus" />
        New thread
      </Link>
    </li>
  );
}
