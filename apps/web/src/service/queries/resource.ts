"use client";

import { type QueryKey, type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { useCallback } from "react";

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
