"use client";

import { keepPreviousData, useMutation, useQueryClient } from "@tanstack/react-query";
import { newId, type ThreadName, threadPath } from "@throughline/agent-client";
import type { JsonObject } from "@throughline/ai-core";
import * as z from "zod/mini";
import { keys, type Resource, useResource } from "./query";
import { askService, orIfMissing } from "./request";

const checkpointSchema = z.object({
  checkpointId: z.string(),
  createdAt: z.nullable(z.string()),
  source: z.nullable(z.string()),
  step: z.nullable(z.number()),
  values: z.record(z.string(), z.json()),
  next: z.array(z.string()),
  interrupts: z.array(z.unknown()),
  messageIds: z.array(z.string()),
});
const stateSchema = z.object({ values: z.record(z.string(), z.json()) });
const pauseSchema = z.object({
  checkpointId: z.string(),
  values: z.record(z.string(), z.json()),
  next: z.array(z.string()),
});
const editedSchema = z.object({ runId: z.nullable(z.string()) });
const pageSchema = z.object({ checkpoints: z.array(checkpointSchema), next: z.nullable(z.string()) });

/** State of the agent at one checkpoint. */
export type Checkpoint = Readonly<z.output<typeof checkpointSchema>>;

export interface CheckpointPage {
  readonly checkpoints: readonly Checkpoint[];
  readonly hasMore: boolean;
}

function readHistory(thread: ThreadName, query: Readonly<Record<string, string>>, signal?: AbortSignal) {
  return askService(threadPath(thread, "/history", query), pageSchema, signal ? { signal } : {});
}

/** Requests the newest checkpoints, newest first. Shown ones stay while more are requested. */
export function useCheckpoints(thread: ThreadName, limit: number): Resource<CheckpointPage> {
  return useResource({
    queryKey: keys.history(thread, limit),
    queryFn: async ({ signal }): Promise<CheckpointPage> => {
      const response = readHistory(thread, { limit: String(limit) }, signal);
      const { checkpoints, next } = await orIfMissing(response, { checkpoints: [], next: null });
      return { checkpoints, hasMore: next !== null };
    },
    placeholderData: keepPreviousData,
  });
}

/** Requests the agent's state after a run; `null` where the thread does not exist. `undefined` run: no request. */
export function useStateAfter(thread: ThreadName, runId: string | undefined): Resource<JsonObject | null> {
  return useResource({
    queryKey: keys.state(thread, runId ?? ""),
    queryFn: async ({ signal }): Promise<JsonObject | null> => {
      const response = askService(threadPath(thread, "/state"), stateSchema, { signal });
      return (await orIfMissing(response, null))?.values ?? null;
    },
    enabled: runId !== undefined,
  });
}

/** Pause of a thread: its state, and the nodes that would run next. */
export type Pause = Readonly<z.output<typeof pauseSchema>>;

/** Requests a thread's pause; `null` where the thread does not exist. Refetched with each `moment`. */
export function usePause(thread: ThreadName, moment: string): Resource<Pause | null> {
  return useResource({
    queryKey: [...keys.state(thread, moment), "pause"],
    queryFn: ({ signal }): Promise<Pause | null> =>
      orIfMissing(askService(threadPath(thread, "/state"), pauseSchema, { signal }), null),
    placeholderData: keepPreviousData,
  });
}

interface StateEdit {
  readonly values: JsonObject;
  /** The checkpoint that the edit is based on. */
  readonly checkpointId: string;
}

/** Edits the agent's state and returns the run that wrote it. */
export function useEditState(thread: ThreadName) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (body: StateEdit) =>
      (await askService(threadPath(thread, "/state"), editedSchema, { method: "PATCH", body })).runId,
    onSettled: () => queries.invalidateQueries({ queryKey: keys.thread(thread) }),
  }).mutateAsync;
}

/** Forks a thread at a checkpoint and returns the new thread's name. */
export function useForkFrom(thread: ThreadName) {
  return useMutation({ mutationFn: (checkpointId: string) => forkFrom(thread, checkpointId) }).mutateAsync;
}

async function forkFrom(thread: ThreadName, checkpointId: string): Promise<string> {
  const threadName = newId(Date.now());
  const body = { threadName, checkpointId };
  await askService(threadPath(thread, "/fork"), z.unknown(), { method: "POST", body });
  return threadName;
}

type CheckpointRef = Pick<Checkpoint, "checkpointId" | "next" | "messageIds">;

/**
 * Finds the newest checkpoint before the message at which the agent was done. It is forked also where it has no messages: its
 * state goes along. `undefined`: there is none. `checkpoints` are newest first.
 */
export function checkpointBefore<T extends CheckpointRef>(
  messageId: string,
  checkpoints: readonly T[],
): T | undefined {
  const first = checkpoints.findLastIndex(({ messageIds }) => messageIds.includes(messageId));
  return first < 0 ? undefined : checkpoints.slice(first + 1).find(({ next }) => next.length === 0);
}

const HISTORY_PAGE = "50";

/** Forks a thread just before a message, with all that came before it, and returns the new thread's name. */
export function useForkBefore(thread: ThreadName) {
  return useMutation({ mutationFn: (messageId: string) => forkBefore(thread, messageId) }).mutateAsync;
}

async function forkBefore(thread: ThreadName, messageId: string): Promise<string> {
  const seen: Checkpoint[] = [];
  let before = "";
  do {
    const page = await readHistory(thread, { limit: HISTORY_PAGE, ...(before && { before }) });
    seen.push(...page.checkpoints);
    const checkpoint = checkpointBefore(messageId, seen);
    if (checkpoint) return forkFrom(thread, checkpoint.checkpointId);
    before = page.next ?? "";
  } while (before !== "");
  if (seen.some(({ messageIds }) => messageIds.includes(messageId))) return newId(Date.now());
  throw new Error(
    "The agent no longer remembers this message, so nothing can begin before it. Copy it into a new thread.",
  );
}
