"use client";

import { QueryClient, type QueryKey, type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { type ThreadName, threadCall } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { useCallback, useEffect, useEffectEvent, useState } from "react";
import { type SettledThread, settledThread } from "../agent-ui/conversation/stable-thread";

/** One cache for a page: what two parts ask for is asked once, and what was shown before shows again at once. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The service says why it refused, and a person decides: a silent second try would only delay the words.
        retry: false,
        refetchOnWindowFocus: false,
        // A browser that believes it is offline may still reach a console on its own machine.
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}

/** An answer of the service, as pages show it. */
export interface Resource<T> {
  /** The newest answer; kept while a newer one is asked for, and when that fails. */
  readonly value: T | undefined;
  readonly problem: Error | undefined;
  readonly isLoading: boolean;
  /** Asks anew at once, and takes a question back that is not answered yet. */
  refresh(): void;
}

/** Reads only what pages show, so that a page renders for those and not for each request that begins or ends. */
export function useResource<T>(options: UseQueryOptions<T, Error, T, QueryKey>): Resource<T> {
  const { data, error, isLoading, refetch } = useQuery(options);
  const refresh = useCallback(() => void refetch(), [refetch]);
  return { value: data, problem: error ?? undefined, isLoading, refresh };
}

/**
 * Asks again this often while the page is visible. A slow answer is waited for. Pages that were opened together ask
 * at different moments.
 */
export function polled(everyMs: number) {
  return {
    refetchInterval: () => everyMs * (0.9 + 0.2 * Math.random()),
    refetchOnWindowFocus: true,
  } as const;
}

/** Names of what the cache holds. A change names the beginning of all keys that it makes old. */
export const keys = {
  agents: ["agents"],
  caller: ["caller"],
  models: ["models"],
  /** All lists of threads. */
  threads: ["threads"],
  activity: (agentIds: readonly string[] | undefined, withShared: boolean | undefined) => [
    "threads",
    "activity",
    agentIds,
    withShared,
  ],
  threadSearch: (agentIds: readonly string[], query: object) => ["threads", "search", agentIds, query],
  /** Threads of all agents. */
  foundThreads: (search: string) => ["threads", "found", search],
  /** All that is asked about one thread. */
  thread: (thread: ThreadName) => ["thread", threadCall(thread)],
  listing: (thread: ThreadName) => [...keys.thread(thread), "listing"],
  feedback: (thread: ThreadName) => [...keys.thread(thread), "feedback"],
  feedbackList: (filter: object) => ["feedback", filter],
  runs: (thread: ThreadName) => [...keys.thread(thread), "runs"],
  state: (thread: ThreadName, runId: string) => [...keys.thread(thread), "state", runId],
  history: (thread: ThreadName, limit: number) => [...keys.thread(thread), "history", limit],
  /** All crons, and all that is asked about one. */
  crons: ["crons"],
  cron: (id: string) => ["crons", id],
  ticks: (id: string) => ["crons", id, "ticks"],
  cronPreview: (schedule: string, timeZone: string) => ["cron preview", schedule, timeZone],
  statement: (month: string) => ["usage", "statement", month],
  daySeries: (filters: readonly object[]) => ["usage", "days", filters],
  spendRuns: (filter: object) => ["usage", "runs", filter],
  budgets: ["usage", "budgets"],
} as const;

/** The value once it has stood still for a moment, so that not every letter is a request. */
export function useDebounced<T>(value: T, afterMs: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}

/** Asks again when a run begins or ends. Renders nothing, and not within the frame that shows it, which has enough to do. */
export function useRefreshOnRun(refresh: () => void): void {
  const thread = useThreadHandle();
  const onRun = useEffectEvent(refresh);
  useEffect(() => {
    const settled = settledThread(thread);
    let seen = runMoment(settled.getSnapshot());
    let due: ReturnType<typeof setTimeout> | undefined;
    const leave = settled.subscribe(() => {
      const now = runMoment(settled.getSnapshot());
      if (now === seen) return;
      seen = now;
      clearTimeout(due);
      due = setTimeout(onRun);
    });
    return () => {
      leave();
      clearTimeout(due);
    };
  }, [thread]);
}

function runMoment({ run }: SettledThread): string {
  return `${run?.serviceRunId} ${run?.status}`;
}
