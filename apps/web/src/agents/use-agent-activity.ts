"use client";

import { useEffect } from "react";
import { usePlace } from "../console/use-place";
import type { Status } from "../design/status-dot";
import type { ThreadRow } from "../service/queries/threads";
import { useListedThreads, useRefreshActivity, useSeen } from "./activity";
import { agentStatus, type LiveThread, newestOf, threadToOpen, withLive } from "./agent-status";
import { isUnread } from "./seen-threads";
import { rowKey } from "./thread-row";
import { useLiveThread } from "./use-live-thread";

export interface AgentActivity {
  readonly status: Status;
  /** `undefined` until the service has said. */
  readonly rows: readonly ThreadRow[] | undefined;
  /** The thread that is followed closely, as it stands. */
  readonly live: LiveThread | undefined;
  readonly lastActivityAt: number | undefined;
  readonly nextTickAt: number | undefined;
  readonly hasUnread: boolean;
  /** Where a person who picks it goes; `undefined`: a new thread. */
  readonly toOpen: ThreadRow | undefined;
}

/** All that a list says of one agent. Its thread that is open, else its newest, is followed closely. */
export function useAgentActivity(agentId: string): AgentActivity {
  const { rows: listed, nextTickAt } = useListedThreads(agentId);
  const seen = useSeen();
  const refresh = useRefreshActivity();
  const place = usePlace();
  const isHere = place.agentId === agentId;
  const isOpen = isHere && place.threadName !== undefined;
  const live = useLiveThread(agentId, isOpen ? place : (newestOf(listed ?? []) ?? {}));
  const rows = listed && withLive(listed, live);

  // Known here before the list says so: a run began or ended since it was asked for.
  const listedStatus = listed?.find((row) => live && rowKey(row) === rowKey(live))?.status;
  const news = live && listed && live.status !== listedStatus ? `${rowKey(live)} ${live.status}` : undefined;
  useEffect(() => {
    if (news === undefined) return;
    // In a task of its own: the frame that shows the news has enough to do.
    const timer = setTimeout(refresh);
    return () => clearTimeout(timer);
  }, [news, refresh]);

  return {
    status: agentStatus(rows ?? [], nextTickAt !== undefined),
    rows,
    live,
    lastActivityAt: newestOf(rows ?? [])?.lastActivityAt,
    nextTickAt,
    hasUnread:
      seen !== undefined &&
      (rows ?? []).some((row) => !(isOpen && rowKey(row) === rowKey(place)) && isUnread(seen, row)),
    toOpen: threadToOpen(rows ?? []),
  };
}
