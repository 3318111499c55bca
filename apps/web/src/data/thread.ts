"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ThreadName, threadPath } from "@throughline/agent-client";
import * as z from "zod/mini";
import { keys, type Resource, useResource } from "./query";
import { askService, orIfMissing } from "./request";

const forkedFromSchema = z.object({
  threadName: z.string(),
  visibility: z.enum(["private", "account"]),
  /** The last message that both threads have. */
  messageId: z.nullable(z.string()),
});
/** Origin of a fork. */
export type ForkedFrom = Readonly<z.output<typeof forkedFromSchema>>;

const listingSchema = z.object({
  title: z.nullable(z.string()),
  titledByPerson: z.boolean(),
  archived: z.boolean(),
  forkedFrom: z.nullable(forkedFromSchema),
  /** Model of its runs that name none; `null`: the service's default. */
  model: z.nullable(z.string()),
});
type ThreadListing = z.output<typeof listingSchema>;

/** Requests the listing of one thread; `null` before its first message. */
export function useListing(
  thread: ThreadName,
  { enabled = true }: { readonly enabled?: boolean } = {},
): Resource<ThreadListing | null> {
  return useResource({
    queryKey: keys.listing(thread),
    queryFn: ({ signal }) => orIfMissing(askService(threadPath(thread), listingSchema, { signal }), null),
    enabled,
  });
}

/** Returns a function that refetches a thread's listing. */
export function useRefreshListing(thread: ThreadName): () => void {
  const queries = useQueryClient();
  return () => void queries.invalidateQueries({ queryKey: keys.listing(thread) });
}

/** Renames a thread. An empty title restores the derived one. */
export function useRenameThread(thread: ThreadName) {
  return useThreadChange(thread, (title: string) => ({ title: title.trim() || null }));
}

/** Sets the thread's model; `null`: the service's default. */
export function useChooseModel(thread: ThreadName) {
  return useThreadChange(thread, (model: string | null) => ({ model }));
}

function useThreadChange<Input>(thread: ThreadName, bodyOf: (input: Input) => object) {
  const queries = useQueryClient();
  const queryKey = keys.listing(thread);
  return useMutation({
    mutationFn: (input: Input) =>
      askService(threadPath(thread), listingSchema, { method: "PATCH", body: bodyOf(input) }),
    onSuccess: async (now) => {
      void queries.invalidateQueries({ queryKey: keys.threads });
      // The response to an earlier request would overwrite the change.
      await queries.cancelQueries({ queryKey });
      queries.setQueryData(queryKey, now);
    },
  }).mutateAsync;
}

const attachmentSchema = z.object({ id: z.string(), mimeType: z.string() });
type UploadedFile = z.output<typeof attachmentSchema>;

interface Upload {
  readonly thread: ThreadName;
  readonly file: File;
  readonly mimeType: string;
  readonly signal: AbortSignal;
}

/** Uploads a file's bytes to its thread; a message references the file afterwards. */
export function uploadAttachment({ thread, file, mimeType, signal }: Upload): Promise<UploadedFile> {
  return askService(threadPath(thread, "/attachments", { filename: file.name }), attachmentSchema, {
    method: "POST",
    file: { content: file, mimeType },
    signal,
  });
}
