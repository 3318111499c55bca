"use client";

import { useActivity } from "../agents/activity";
import { askThreads } from "../agents/ask-threads";
import type { ThreadRow } from "../agents/thread-row";
import { useCaller } from "../console/caller";
import { useAgentCatalog } from "../console/use-agent-catalog";
import { useDebounced } from "../service/use-debounced";
import { useResource } from "../service/use-resource";

const TYPING_MS = 200;
/** What a single letter finds, nobody looks for. */
const FEWEST_LETTERS = 2;
const FOUND = 8;

/** Threads that are called so and are too old to be listed, by agent. Only agents that have such are asked. */
export function useFoundThreads(typed: string): ReadonlyMap<string, readonly ThreadRow[]> | undefined {
  const { agents } = useAgentCatalog();
  const { pageOf } = useActivity();
  const { isPerson } = useCaller();
  const search = useDebounced(typed.trim(), TYPING_MS);
  const ids = (agents ?? []).map(({ id }) => id).filter((id) => typeof pageOf(id)?.next === "string");
  const isAsked = search.length >= FEWEST_LETTERS && ids.length > 0;
  const { value } = useResource(isAsked ? JSON.stringify([search, ids]) : undefined, async (signal) => {
    const found = await Promise.all(
      ids.map(
        async (id) =>
          [
            id,
            (await askThreads(id, { search, withShared: isPerson, limit: FOUND }, signal)).threads,
          ] as const,
      ),
    );
    return new Map(found);
  });
  return value;
}
