"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ThreadRun, ThreadSnapshot } from "@throughline/agent-client";
import { useAgentClient } from "@throughline/agent-react";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useDeferredValue,
  useEffect,
  useMemo,
  useSyncExternalStore,
} from "react";
import type { Status } from "../agent-ui/primitives/status";
import { useAgentCatalog } from "../data/agents";
import { useCaller } from "../data/caller";
import {
  type ActivityData,
  activityQuery,
  type ThreadPage,
  type ThreadRow,
  type Waiting,
} from "../data/thread-lists";
import { useRoute } from "../shell/use-route";
import { isUnread, type SeenThreads } from "./seen-threads";
import { joinRows, rowKey } from "./thread-pages";

/** Activity of one agent as the lists report it. */
export interface ListedThreads {
  /** The newest threads and all that wait for a person, newest first; `undefined` until the first response. */
  readonly rows: readonly ThreadRow[] | undefined;
  /** The newest threads only. */
  readonly page: ThreadPage | undefined;
  /** Time of the agent's next cron tick. */
  readonly nextTickAt: number | undefined;
}

type ActivityQuery = ReturnType<typeof activityQuery>;

const QueryContext = createContext<ActivityQuery | undefined>(undefined);
const SeenContext = createContext<SeenThreads | undefined>(undefined);

/** Polls once for all consumers. The hooks below select from the result, and each renders only when its own part changes. */
export function ActivityProvider(props: {
  readonly seen: SeenThreads | undefined;
  /** Polls also while the page is hidden. */
  readonly inBackground?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  const { agents } = useAgentCatalog();
  const { isPerson } = useCaller();
  const query = useMemo(
    () => activityQuery(isPerson === undefined ? undefined : agents?.map(({ id }) => id), isPerson),
    [agents, isPerson],
  );
  useQuery({ ...query, notifyOnChangeProps: [], refetchIntervalInBackground: props.inBackground ?? false });
  return (
    <QueryContext value={query}>
      <SeenContext value={props.seen}>{props.children}</SeenContext>
    </QueryContext>
  );
}

/** Selects a part of the polled data. Sends no request itself. */
function usePolled<T>(select: (data: ActivityData) => T) {
  const query = useActivityQuery();
  return useQuery({ queryKey: query.queryKey, queryFn: query.queryFn, enabled: false, select });
}

function useActivityQuery(): ActivityQuery {
  const query = useContext(QueryContext);
  if (!query) throw new Error("Lists of threads need the console's layout above them.");
  return query;
}

/** Returns the threads that this account has seen; `undefined` during server rendering. */
export function useSeen(): SeenThreads | undefined {
  return useContext(SeenContext);
}

export function useListedThreads(agentId: string): ListedThreads {
  const { data } = usePolled(
    useCallback(
      ({ threads, ticks }: ActivityData) => ({ known: threads[agentId], tick: ticks[agentId] }),
      [agentId],
    ),
  );
  return useMemo(
    () => ({ rows: rowsOf(data?.known), page: data?.known?.page, nextTickAt: data?.tick }),
    [data],
  );
}

/** Returns the listed threads of every agent, by agent id. */
export function useAllListedThreads(): ReadonlyMap<string, Omit<ListedThreads, "nextTickAt">> {
  const { data } = usePolled(threadsOf);
  return useMemo(
    () =>
      new Map(
        Object.entries(data ?? {}).map(([agentId, known]) => [
          agentId,
          { rows: rowsOf(known), page: known.page },
        ]),
      ),
    [data],
  );
}

/** Returns the open interrupts of all agents; `undefined` until the first response. */
export function useWaiting(): Waiting | undefined {
  return usePolled(waitingOf).data;
}

/** Returns the error of the last poll: the lists may be out of date. */
export function useActivityProblem(): Error | undefined {
  return usePolled(nothingOf).error ?? undefined;
}

/** Returns a function that polls at once, instead of with the next poll. */
export function useRefreshActivity(): () => void {
  const { queryKey } = useActivityQuery();
  const queries = useQueryClient();
  return useCallback(() => void queries.refetchQueries({ queryKey }), [queries, queryKey]);
}

function rowsOf(known: ActivityData["threads"][string] | undefined): readonly ThreadRow[] | undefined {
  if (!known || known.waiting.length === 0) return known?.page.threads;
  return joinRows(known.waiting, known.page.threads);
}

const waitingOf = ({ waiting }: ActivityData) => waiting;
const threadsOf = ({ threads }: ActivityData) => threads;
const nothingOf = () => null;

export interface AgentActivity {
  readonly status: Status;
  /** `undefined` until the first response. */
  readonly rows: readonly ThreadRow[] | undefined;
  /** Current status of the thread that is watched closely. */
  readonly live: LiveThread | undefined;
  readonly lastActivityAt: number | undefined;
  readonly nextTickAt: number | undefined;
  readonly hasUnread: boolean;
  /** Thread that opens when a person picks the agent; `undefined`: a new thread. */
  readonly toOpen: ThreadRow | undefined;
}

/** Collects what a list shows of one agent. Its open thread, else its newest, is watched closely. */
export function useAgentActivity(agentId: string): AgentActivity {
  const { rows: listed, nextTickAt } = useListedThreads(agentId);
  const seen = useSeen();
  const refresh = useRefreshActivity();
  const route = useRoute();
  const isHere = route.agentId === agentId;
  const isOpen = isHere && route.threadName !== undefined;
  const live = useLiveThread(agentId, isOpen ? route : (newestOf(listed ?? []) ?? {}));
  const rows = listed && withLive(listed, live);

  // The live status is newer than the list: a run began or ended after the last poll.
  const listedStatus = listed?.find((row) => live && rowKey(row) === rowKey(live))?.status;
  const news = live && listed && live.status !== listedStatus ? `${rowKey(live)} ${live.status}` : undefined;
  useEffect(() => {
    if (news === undefined) return;
    // In its own task: the frame that shows the change has enough to do.
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
      (rows ?? []).some((row) => !(isOpen && rowKey(row) === rowKey(route)) && isUnread(seen, row)),
    toOpen: threadToOpen(rows ?? []),
  };
}

/** Current status of a thread from a stream or a poll; newer than any list. */
export interface LiveThread {
  readonly threadName: string;
  readonly visibility?: "account" | undefined;
  readonly status: ThreadRow["status"];
}

/** Maps the newest run to a thread's status; `undefined`: no run is known yet. */
export function liveStatus(run: ThreadRun | null, hasInterrupts: boolean): ThreadRow["status"] | undefined {
  if (!run) return undefined;
  if (run.status === "running") return "running";
  if (hasInterrupts || run.status === "interrupted") return "waiting";
  return run.status === "error" ? "error" : "idle";
}

export function withLive(rows: readonly ThreadRow[], live: LiveThread | undefined): readonly ThreadRow[] {
  if (!live) return rows;
  return rows.map((row) => (rowKey(row) === rowKey(live) ? { ...row, status: live.status } : row));
}

/**
 * Aggregates the status of an agent's threads. A thread that waits for a person comes first; a failure counts as long as
 * nothing newer has happened.
 */
export function agentStatus(rows: readonly ThreadRow[], hasNextTick: boolean): Status {
  const has = (status: ThreadRow["status"]) => rows.some((row) => row.status === status);
  if (has("waiting")) return "waiting";
  if (has("running")) return "running";
  if (newestOf(rows)?.status === "error") return "error";
  return hasNextTick ? "scheduled" : "idle";
}

function newestOf(rows: readonly ThreadRow[]): ThreadRow | undefined {
  return rows.reduce<ThreadRow | undefined>(
    (newest, row) => (newest && newest.lastActivityAt >= row.lastActivityAt ? newest : row),
    undefined,
  );
}

/** Picks the thread that opens for an agent: the newest that waits for a person, else the newest. */
export function threadToOpen(rows: readonly ThreadRow[]): ThreadRow | undefined {
  return newestOf(rows.filter(({ status }) => status === "waiting")) ?? newestOf(rows);
}

/**
 * Returns a thread's current status, from its stream where its page is open and from polls where not. `undefined` name: no
 * thread. Lists show it after the frame in which the thread's own page does: that one has enough to do.
 */
export function useLiveThread(
  agentId: string,
  {
    threadName,
    visibility,
  }: { readonly threadName?: string | undefined; readonly visibility?: "account" | undefined },
): LiveThread | undefined {
  const client = useAgentClient();
  const handle = threadName === undefined ? undefined : client.thread(agentId, threadName, visibility);
  useEffect(
    () =>
      threadName === undefined ? undefined : client.watch([{ agentId, threadId: threadName, visibility }]),
    [client, agentId, threadName, visibility],
  );
  const status = useSyncExternalStore(
    handle?.subscribe ?? never,
    () => handle && statusOf(handle.getSnapshot()),
    () => undefined,
  );
  const live = useMemo(
    () => (threadName === undefined || status === undefined ? undefined : { threadName, visibility, status }),
    [threadName, visibility, status],
  );
  return useDeferredValue(live);
}

function statusOf({ view }: ThreadSnapshot) {
  return liveStatus(view.run, view.interrupts.length > 0);
}

function never(): () => void {
  return () => {};
}
