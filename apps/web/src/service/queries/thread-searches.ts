"use client";

import { useQueries } from "@tanstack/react-query";
import { useCallback } from "react";
import { keys } from "./keys";
import { readThreads, type ThreadPage, type ThreadQuery, type ThreadRow } from "./threads";

/** Threads of several agents that fit a search, each agent asked for itself. Empty until an agent has answered. */
export function useThreadSearches(
  agentIds: readonly string[],
  query: ThreadQuery,
): ReadonlyMap<string, readonly ThreadRow[]> {
  return useQueries({
    queries: agentIds.map((agentId) => ({
      queryKey: keys.threadSearch([agentId], query),
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => readThreads(agentId, query, signal),
    })),
    combine: useCallback(
      (results: readonly { readonly data?: ThreadPage | undefined }[]) =>
        new Map(agentIds.map((id, at) => [id, results[at]?.data?.threads ?? []])),
      [agentIds],
    ),
  });
}
