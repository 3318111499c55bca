"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useCallback, useContext, useMemo } from "react";
import { useCaller } from "../console/caller";
import { useAgentCatalog } from "../console/use-agent-catalog";
import {
  type ActivityData,
  activityQuery,
  type ThreadPage,
  type ThreadRow,
} from "../service/queries/threads";
import type { Waiting } from "../service/queries/waiting";
import { joinRows } from "./merge-rows";
import type { SeenThreads } from "./seen-threads";

/** What goes on with one agent, as lists tell it. */
export interface ListedThreads {
  /** The newest, and all that wait for a person, newest first; `undefined` until the service has said. */
  readonly rows: readonly ThreadRow[] | undefined;
  /** The newest alone. */
  readonly page: ThreadPage | undefined;
  /** When its next cron tick is due. */
  readonly nextTickAt: number | undefined;
}

type ActivityQuery = ReturnType<typeof activityQuery>;

const QueryContext = createContext<ActivityQuery | undefined>(undefined);
const SeenContext = createContext<SeenThreads | undefined>(undefined);

/** Polls for all who look, once. What it learns is read by the hooks below, each of which renders for its own part alone. */
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

/** A part of what was polled. Asks for nothing itself. */
function usePolled<T>(select: (data: ActivityData) => T) {
  const query = useActivityQuery();
  return useQuery({ queryKey: query.queryKey, queryFn: query.queryFn, enabled: false, select });
}

function useActivityQuery(): ActivityQuery {
  const query = useContext(QueryContext);
  if (!query) throw new Error("Lists of threads need the console's layout above them.");
  return query;
}

/** Which threads this account has seen; `undefined` while the page is still a server's. */
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

/** The same of every agent. */
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

/** Open questions of all agents; `undefined` until the service has said. */
export function useWaiting(): Waiting | undefined {
  return usePolled(waitingOf).data;
}

/** Why the lists may be old. */
export function useActivityProblem(): Error | undefined {
  return usePolled(nothingOf).error ?? undefined;
}

/** Asks at once, instead of with the next poll. */
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
