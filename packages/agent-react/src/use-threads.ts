import type { ThreadQuery } from "@throughline/agent-client";
import { useMemo, useSyncExternalStore } from "react";
import { useAccountFor } from "./agent-provider.js";
import { createThreadList, type ThreadList, type ThreadListSnapshot, UNLISTED } from "./thread-list.js";

export interface ThreadsOptions extends Omit<ThreadQuery, "after"> {
  /** How often the list is asked for again while the page is in view; 0: never. */
  readonly pollMs?: number;
}

export type Threads = ThreadListSnapshot & Pick<ThreadList, "refresh" | "loadMore">;

const POLL_MS = 15_000;

/** An agent's threads, newest activity first. Renders when the list is another. */
export function useThreads(agentId: string, { pollMs = POLL_MS, ...query }: ThreadsOptions = {}): Threads {
  const account = useAccountFor("useThreads()");
  const about = JSON.stringify(query);
  const list = useMemo(
    () => createThreadList({ account, agentId, query: JSON.parse(about), pollMs }),
    [account, agentId, about, pollMs],
  );
  const snapshot = useSyncExternalStore(list.subscribe, list.getSnapshot, unlisted);
  return useMemo(() => ({ ...snapshot, refresh: list.refresh, loadMore: list.loadMore }), [snapshot, list]);
}

const unlisted = () => UNLISTED;
