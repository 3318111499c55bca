"use client";

import { useMemo } from "react";
import { useAllListedThreads } from "../agents/activity";
import { useCaller } from "../console/caller";
import { useThreadSearches } from "../service/queries/thread-searches";
import type { ThreadRow } from "../service/queries/threads";
import { useDebounced } from "../service/use-debounced";

const TYPING_MS = 200;
/** What a single letter finds, nobody looks for. */
const FEWEST_LETTERS = 2;
const FOUND = 8;

/** Threads that are called so and are too old to be listed, by agent. Only agents that have such are asked. */
export function useFoundThreads(typed: string): ReadonlyMap<string, readonly ThreadRow[]> {
  const listed = useAllListedThreads();
  const { isPerson } = useCaller();
  const search = useDebounced(typed.trim(), TYPING_MS);
  const isAsked = search.length >= FEWEST_LETTERS;
  const ids = useMemo(
    () => (isAsked ? [...listed].flatMap(([id, { page }]) => (page && page.next !== null ? [id] : [])) : []),
    [listed, isAsked],
  );
  return useThreadSearches(ids, { search, withShared: isPerson, limit: FOUND });
}
