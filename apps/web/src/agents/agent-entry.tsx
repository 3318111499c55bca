"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { agentPath, threadPath } from "../console/paths";
import { usePlace } from "../console/use-place";
import { RelativeTime } from "../design/relative-time";
import { STATUS_WORDS, StatusDot } from "../design/status-dot";
import type { CatalogAgent } from "../service/queries/agents";
import styles from "./agent-entry.module.css";
import { ThreadList } from "./thread-list";
import { type AgentActivity, useAgentActivity } from "./use-agent-activity";
import { useWaitingNotice } from "./use-waiting-notice";

/** One agent in the sidebar; the one the page is about shows its threads. */
export function AgentEntry({ agent }: { readonly agent: CatalogAgent }): ReactNode {
  const place = usePlace();
  const activity = useAgentActivity(agent.id);
  useWaitingNotice(agent, activity.rows);
  const isHere = place.agentId === agent.id;
  const { toOpen, status, hasUnread } = activity;
  const target = toOpen ? threadPath(agent.id, toOpen.threadName, toOpen.visibility) : agentPath(agent.id);
  return (
    <li>
      <Link
        href={isHere ? agentPath(agent.id) : target}
        prefetch={false}
        className={styles.entry}
        data-here={isHere}
        {...(isHere && place.threadName === undefined && { "aria-current": "page" })}
      >
        <StatusDot status={status} />
        <span className={hasUnread ? styles.unread : styles.name}>{agent.name}</span>
        {hasUnread && <span className="visually-hidden">, something new</span>}
        <Note activity={activity} />
        {hasUnread && <span className={styles.news} aria-hidden="true" />}
      </Link>
      {isHere && <ThreadList agentId={agent.id} live={activity.live} />}
    </li>
  );
}

function Note({
  activity: { status, nextTickAt, lastActivityAt },
}: {
  readonly activity: AgentActivity;
}): ReactNode {
  if (status === "waiting" || status === "running" || status === "error") {
    return <span className={`${styles.note} ${styles[status]}`}>{STATUS_WORDS[status]}</span>;
  }
  const at = nextTickAt ?? lastActivityAt;
  if (at === undefined) return null;
  const words = nextTickAt === undefined ? "Last activity" : "Next scheduled run";
  return (
    <span className={styles.note} title={words}>
      <span className="visually-hidden">{words} </span>
      <RelativeTime at={at} />
    </span>
  );
}
