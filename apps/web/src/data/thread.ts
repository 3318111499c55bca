"use client";

import { keepPreviousData, useMutation, useQueryClient } from "@tanstack/react-query";
import { type ThreadName, threadCall } from "@throughline/agent-client";
import * as z from "zod/mini";
import { keys, polled, type Resource, useResource } from "./query";
import { askService, orIfMissing } from "./request";

const forkedFromSchema = z.object({
  threadName: z.string(),
  visibility: z.enum(["private", "account"]),
  /** The last message that both threads have. */
  messageId: z.nullable(z.string()),
});
/** Where a fork began. */
export type ForkedFrom = Readonly<z.output<typeof forkedFromSchema>>;

const listingSchema = z.object({
  title: z.nullable(z.string()),
  titledByPerson: z.boolean(),
  archived: z.boolean(),
  forkedFrom: z.nullable(forkedFromSchema),
  /** What its runs use that name none; `null`: the service's default. */
  model: z.nullable(z.string()),
});
type ThreadListing = z.output<typeof listingSchema>;

/** How one thread is listed; `null` before anything was said in it. */
export function useListing(
  thread: ThreadName,
  { enabled = true }: { readonly enabled?: boolean } = {},
): Resource<ThreadListing | null> {
  return useResource({
    queryKey: keys.listing(thread),
    queryFn: ({ signal }) => orIfMissing(askService(threadCall(thread), listingSchema, { signal }), null),
    enabled,
  });
}

/** Asks anew how a thread is listed. */
export function useRefreshListing(thread: ThreadName): () => void {
  const queries = useQueryClient();
  return () => void queries.invalidateQueries({ queryKey: keys.listing(thread) });
}

/** An empty title gives the derived one back. */
export function useRenameThread(thread: ThreadName) {
  return useThreadChange(thread, (title: string) => ({ title: title.trim() || null }));
}

/** `null`: the service's default. */
export function useChooseModel(thread: ThreadName) {
  return useThreadChange(thread, (model: string | null) => ({ model }));
}

function useThreadChange<Input>(thread: ThreadName, bodyOf: (input: Input) => object) {
  const queries = useQueryClient();
  const queryKey = keys.listing(thread);
  return useMutation({
    mutationFn: (input: Input) =>
      askService(threadCall(thread), listingSchema, { method: "PATCH", body: bodyOf(input) }),
    onSuccess: async (now) => {
      void queries.invalidateQueries({ queryKey: keys.threads });
      // What was asked before the change would be shown over it.
      await queries.cancelQueries({ queryKey });
      queries.setQueryData(queryKey, now);
    },
  }).mutateAsync;
}

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

const startedSchema = z.object({ runId: z.string() });

/** Runs the thread again from before an assistant's message, and gives the run. What comes behind that message goes with it. */
export function useRegenerate(thread: ThreadName) {
  return useRunAgain((messageId: string) => start(thread, "/regenerate", { messageId }));
}

/** Tries again what failed last, and gives the run. */
export function useRetry(thread: ThreadName) {
  return useRunAgain(() => start(thread, "/retry", {}));
}

function useRunAgain<Input = void>(mutationFn: (input: Input) => Promise<string>) {
  return useMutation({ mutationFn }).mutateAsync;
}

async function start(thread: ThreadName, route: string, body: object): Promise<string> {
  return (await askService(threadCall(thread, route), startedSchema, { method: "POST", body })).runId;
}

const attachmentSchema = z.object({ id: z.string(), mimeType: z.string() });
type UploadedFile = z.output<typeof attachmentSchema>;

interface Upload {
  readonly thread: ThreadName;
  readonly file: File;
  readonly mimeType: string;
  readonly signal: AbortSignal;
}

/** Bytes as they are, into the thread they belong to; a message names them afterwards. */
export function uploadAttachment({ thread, file, mimeType, signal }: Upload): Promise<UploadedFile> {
  return askService(threadCall(thread, "/attachments", { filename: file.name }), attachmentSchema, {
    method: "POST",
    file: { content: file, mimeType },
    signal,
  });
}
