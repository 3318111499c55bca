"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ThreadName, threadCall } from "@throughline/agent-client";
import * as z from "zod/mini";
import { askService } from "../ask-service";
import { keys } from "./keys";
import { orIfMissing } from "./or-if-missing";
import { type Resource, useResource } from "./resource";

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
