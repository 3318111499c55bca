"use client";

import { QueryClient, type QueryKey, type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { type ThreadName, threadPath } from "@throughline/agent-client";
import { useCallback, useEffect, useState } from "react";

/** Creates the page's query cache: equal queries share one request, and cached data shows again at once. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The service gives the reason of a refusal and a person decides: a silent retry would only delay the message.
        retry: false,
        refetchOnWindowFocus: false,
        // A browser that believes it is offline may still reach a console on its own machine.
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}

/** A response of the service, as pages show it. */
export interface Resource<T> {
  /** The newest response; retained while a newer one is requested, and when that fails. */
  readonly value: T | undefined;
  readonly problem: Error | undefined;
  readonly isLoading: boolean;
  /** Refetches at once and cancels a pending request. */
  refresh(): void;
}

/** Reads only the fields that pages show, so that a page does not render for each request that begins or ends. */
export function useResource<T>(options: UseQueryOptions<T, Error, T, QueryKey>): Resource<T> {
  const { data, error, isLoading, refetch } = useQuery(options);
  const refresh = useCallback(() => void refetch(), [refetch]);
  return { value: data, problem: error ?? undefined, isLoading, refresh };
}

/**
 * Polls at this interval while the page is visible. A slow response delays the next poll. The jitter spreads the polls of pages
 * that were opened together.
 */
export function polled(everyMs: number) {
  return {
    refetchInterval: () => everyMs * (0.9 + 0.2 * Math.random()),
    refetchOnWindowFocus: true,
  } as const;
}

/** Keys of the cached queries. A mutation invalidates the common prefix of all keys that it makes stale. */
export const keys = {
  agents: ["agents"],
  caller: ["caller"],
  models: ["models"],
  /** Prefix of all lists of threads. */
  threads: ["threads"],
  activity: (agentIds: readonly string[] | undefined, withShared: boolean | undefined) => [
    "threads",
    "activity",
    agentIds,
    withShared,
  ],
  threadSearch: (agentIds: readonly string[], query: object) => ["threads", "search", agentIds, query],
  /** A search in the threads of all agents. */
  foundThreads: (search: string) => ["threads", "found", search],
  /** Prefix of all queries about one thread. */
  thread: (thread: ThreadName) => ["thread", threadPath(thread)],
  listing: (thread: ThreadName) => [...keys.thread(thread), "listing"],
  feedback: (thread: ThreadName) => [...keys.thread(thread), "feedback"],
  feedbackList: (filter: object) => ["feedback", filter],
  runs: (thread: ThreadName) => [...keys.thread(thread), "runs"],
  state: (thread: ThreadName, runId: string) => [...keys.thread(thread), "state", runId],
  history: (thread: ThreadName, limit: number) => [...keys.thread(thread), "history", limit],
  /** The list of crons, and prefix of all queries about one. */
  crons: ["crons"],
  cron: (id: string) => ["crons", id],
  ticks: (id: string) => ["crons", id, "ticks"],
  cronPreview: (schedule: string, timeZone: string) => ["cron preview", schedule, timeZone],
  statement: (month: string) => ["usage", "statement", month],
  daySeries: (filters: readonly object[]) => ["usage", "days", filters],
  spendRuns: (filter: object) => ["usage", "runs", filter],
  budgets: ["usage", "budgets"],
} as const;

/** Debounces a value, so that not every letter is a request. */
export function useDebounced<T>(value: T, afterMs: number): T {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return debounced;
}
