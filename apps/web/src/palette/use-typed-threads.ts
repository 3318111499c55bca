"use client";

import { useCaller } from "../console/caller";
import { type FoundThread, useFoundThreads } from "../service/queries/found-threads";
import { useDebounced } from "../service/use-debounced";

const TYPING_MS = 200;
/** A single letter finds too much. */
const FEWEST_LETTERS = 2;
const FOUND = 20;
const NONE: readonly FoundThread[] = [];

/** Threads that are called as is typed, however old, and threads in which it was said. */
export function useTypedThreads(typed: string): readonly FoundThread[] {
  const { isPerson } = useCaller();
  const search = useDebounced(typed.trim(), TYPING_MS);
  const isAsked = search.length >= FEWEST_LETTERS;
  return useFoundThreads(isAsked ? search : "", { isPerson, limit: FOUND }).value ?? NONE;
}
