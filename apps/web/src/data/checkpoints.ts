"use client";

import { keepPreviousData, useMutation, useQueryClient } from "@tanstack/react-query";
import { newId, type ThreadName, threadCall } from "@throughline/agent-client";
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

/** What the agent held at one moment. */
export type Checkpoint = Readonly<z.output<typeof checkpointSchema>>;

export interface CheckpointPage {
  readonly checkpoints: readonly Checkpoint[];
  readonly hasMore: boolean;
}

function readHistory(thread: ThreadName, query: Readonly<Record<string, string>>, signal?: AbortSignal) {
  return askService(threadCall(thread, "/history", query), pageSchema, signal ? { signal } : {});
}

/** Newest first. What is shown stays while more are asked for. */
export function useCheckpoints(thread: ThreadName, limit: number): Resource<CheckpointPage> {
  return useResource({
    queryKey: keys.history(thread, limit),
    queryFn: async ({ signal }): Promise<CheckpointPage> => {
      const asked = readHistory(thread, { limit: String(limit) }, signal);
      const { checkpoints, next } = await orIfMissing(asked, { checkpoints: [], next: null });
      return { checkpoints, hasMore: next !== null };
    },
    placeholderData: keepPreviousData,
  });
}

/** What the agent holds after a run; `null` where the thread does not exist. `undefined`: nothing is asked. */
export function useStateAfter(thread: ThreadName, runId: string | undefined): Resource<JsonObject | null> {
  return useResource({
    queryKey: keys.state(thread, runId ?? ""),
    queryFn: async ({ signal }): Promise<JsonObject | null> => {
      const asked = askService(threadCall(thread, "/state"), stateSchema, { signal });
      return (await orIfMissing(asked, null))?.values ?? null;
    },
    enabled: runId !== undefined,
  });
}

/** Where a thread pauses: what it holds, and the steps that the agent would take next. */
export type Pause = Readonly<z.output<typeof pauseSchema>>;

/** `null` where the thread does not exist. `moment`: asked anew with each. */
export function usePause(thread: ThreadName, moment: string): Resource<Pause | null> {
  return useResource({
    queryKey: [...keys.state(thread, moment), "pause"],
    queryFn: ({ signal }): Promise<Pause | null> =>
      orIfMissing(askService(threadCall(thread, "/state"), pauseSchema, { signal }), null),
    placeholderData: keepPreviousData,
  });
}

interface StateEdit {
  readonly values: JsonObject;
  /** The checkpoint that was seen when it was made. */
  readonly checkpointId: string;
}

/** Edits what the agent holds, and gives the run that wrote it. */
export function useEditState(thread: ThreadName) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (body: StateEdit) =>
      (await askService(threadCall(thread, "/state"), editedSchema, { method: "PATCH", body })).runId,
    onSettled: () => queries.invalidateQueries({ queryKey: keys.thread(thread) }),
  }).mutateAsync;
}

/** Begins a thread at a checkpoint, and gives its name. */
export function useForkFrom(thread: ThreadName) {
  return useMutation({ mutationFn: (checkpointId: string) => forkFrom(thread, checkpointId) }).mutateAsync;
}

async function forkFrom(thread: ThreadName, checkpointId: string): Promise<string> {
  const threadName = newId(Date.now());
  const body = { threadName, checkpointId };
  await askService(threadCall(thread, "/fork"), z.unknown(), { method: "POST", body });
  return threadName;
}

type Moment = Pick<Checkpoint, "checkpointId" | "next" | "messageIds">;

/**
 * The newest moment at which the agent was done and the message had not been said; what it held then goes along, also where
 * no word had been said. `undefined`: nothing came before. Newest first.
 */
export function momentBefore<T extends Moment>(messageId: string, checkpoints: readonly T[]): T | undefined {
  const said = checkpoints.findLastIndex(({ messageIds }) => messageIds.includes(messageId));
  return said < 0 ? undefined : checkpoints.slice(said + 1).find(({ next }) => next.length === 0);
}

const HISTORY_PAGE = "50";

/** Begins a thread just before a message, with all that came before it, and gives its name. */
export function useForkBefore(thread: ThreadName) {
  return useMutation({ mutationFn: (messageId: string) => forkBefore(thread, messageId) }).mutateAsync;
}

async function forkBefore(thread: ThreadName, messageId: string): Promise<string> {
  const seen: Checkpoint[] = [];
  let before = "";
  do {
    const page = await readHistory(thread, { limit: HISTORY_PAGE, ...(before && { before }) });
    seen.push(...page.checkpoints);
    const moment = momentBefore(messageId, seen);
    if (moment) return forkFrom(thread, moment.checkpointId);
    before = page.next ?? "";
  } while (before !== "");
  if (seen.some(({ messageIds }) => messageIds.includes(messageId))) return newId(Date.now());
  throw new Error(
    "The agent no longer remembers this message, so nothing can begin before it. Copy it into a new thread.",
  );
}
