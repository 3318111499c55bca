"use client";

import { keepPreviousData } from "@tanstack/react-query";
import { type ThreadName, threadCall } from "@throughline/agent-client";
import * as z from "zod/mini";
import { askService } from "../ask-service";
import { keys } from "./keys";
import { orIfMissing } from "./or-if-missing";
import { polled, type Resource, useResource } from "./resource";

const runSchema = z.object({
  runId: z.string(),
  status: z.enum(["queued", "running", "success", "interrupted", "cancelled", "error", "lost"]),
  startedBy: z.object({
    kind: z.enum(["client", "cron", "foreign"]),
    id: z.optional(z.string()),
    command: z.optional(z.string()),
    /** Who asked, where that was a person. */
    person: z.optional(z.string()),
  }),
  work: z.enum(["graph", "foreign", "reconcile"]),
  /** `null`: the graph's own. */
  model: z.nullable(z.string()),
  /** `null`: nothing was metered, or the caller may not see it. */
  cost: z.nullable(z.object({ costUsd: z.number(), unpriced: z.number() })),
  attempt: z.number(),
  createdAt: z.string(),
  endedAt: z.nullable(z.string()),
});
const runsSchema = z.object({ runs: z.array(runSchema) });

/** A run as the service lists it. */
export type Run = Readonly<z.output<typeof runSchema>>;

const EVERY_MS = 5_000;

/** Newest first. None of a thread that has not begun to exist. */
export function useRuns(thread: ThreadName): Resource<readonly Run[]> {
  return useResource({
    queryKey: keys.runs(thread),
    queryFn: ({ signal }) => readRuns(thread, signal),
    ...polled(EVERY_MS),
  });
}

async function readRuns(thread: ThreadName, signal: AbortSignal): Promise<readonly Run[]> {
  const asked = askService(threadCall(thread, "/runs", { limit: "100" }), runsSchema, { signal });
  return (await orIfMissing(asked, { runs: [] })).runs;
}

/** Who and what began a run. `runId` `undefined`: not asked. Asked anew with each `newest` run of the thread, once for all. */
export function useRunStarter(
  thread: ThreadName,
  runId: string | undefined,
  newest: string | undefined,
): Run["startedBy"] | undefined {
  const { value } = useResource({
    queryKey: [...keys.runs(thread), newest],
    queryFn: ({ signal }) => readRuns(thread, signal),
    enabled: runId !== undefined && newest !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  return value?.find((run) => run.runId === runId)?.startedBy;
}
