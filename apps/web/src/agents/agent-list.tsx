"use client";

import Link from "next/link";
import { usePathname, useRouter } from "next/navigation";
import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "../agent-ui/primitives/button";
import { Skeleton, STATUS_LABELS, StatusDot } from "../agent-ui/primitives/status";
import { RelativeTime } from "../agent-ui/primitives/time";
import { useToaster } from "../agent-ui/primitives/toast";
import { type CatalogAgent, useAgentCatalog } from "../data/agents";
import type { ThreadRow } from "../data/thread-lists";
import { agentPath, INBOX_PATH, threadPath } from "../shell/routes";
import { useRoute } from "../shell/use-route";
import { type AgentActivity, useAgentActivity } from "./activity";
import styles from "./agent-list.module.css";
import { ThreadList } from "./thread-list";
import { rowKey, titleOf } from "./thread-pages";

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

/** One agent in the sidebar; the agent of the current page shows its threads. */
function AgentEntry({ agent }: { readonly agent: CatalogAgent }): ReactNode {
  const route = useRoute();
  const activity = useAgentActivity(agent.id);
  useWaitingNotice(agent, activity.rows);
  const isHere = route.agentId === agent.id;
  const { toOpen, status, hasUnread } = activity;
  const target = toOpen ? threadPath(agent.id, toOpen.threadName, toOpen.visibility) : agentPath(agent.id);
  return (
    <li>
      <Link
        href={isHere ? agentPath(agent.id) : target}
        prefetch={false}
        className={styles.entry}
        data-here={isHere}
        {...(isHere && route.threadName === undefined && { "aria-current": "page" })}
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
    return <span className={`${styles.note} ${styles[status]}`}>{STATUS_LABELS[status]}</span>;
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

/** Shows a toast when a thread of another page begins to wait for the person. Those that waited before are only listed. */
function useWaitingNotice({ id, name }: CatalogAgent, rows: readonly ThreadRow[] | undefined): void {
  const route = useRoute();
  const router = useRouter();
  const toaster = useToaster();
  const before = useRef<ReadonlySet<string>>(undefined);
  const isInInbox = usePathname() === INBOX_PATH;
  const here = route.agentId === id && route.threadName !== undefined ? rowKey(route) : undefined;

  useEffect(() => {
    if (!rows) return;
    const waiting = rows.filter(({ status }) => status === "waiting");
    const known = before.current;
    before.current = new Set(waiting.map(rowKey));
    for (const key of known ?? []) {
      if (!before.current.has(key)) toaster.dismiss(noticeKey(id, key));
    }
    for (const row of waiting) {
      if (!known || known.has(rowKey(row)) || rowKey(row) === here || isInInbox) continue;
      toaster.show({
        key: noticeKey(id, rowKey(row)),
        tone: "waiting",
        title: `${name} waits for your answer`,
        text: titleOf(row),
        action: {
          label: "Answer",
          onSelect: () => router.push(threadPath(id, row.threadName, row.visibility)),
        },
      });
    }
  }, [rows, id, name, here, isInInbox, router, toaster]);

  // Opening the thread another way dismisses its notice.
  useEffect(() => {
    if (here !== undefined) toaster.dismiss(noticeKey(id, here));
  }, [id, here, toaster]);
}

function noticeKey(agentId: string, key: string): string {
  return `waiting ${agentId} ${key}`;
}
