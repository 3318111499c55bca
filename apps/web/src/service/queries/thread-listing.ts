"use client";

import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
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

/** How one thread is listed; `null` before anything was said in it. Asked anew with each `moment`, with the last answer until then; `undefined`: not at all. */
export function useListing(thread: ThreadName, moment: string | undefined): Resource<ThreadListing | null> {
  return useResource({
    queryKey: keys.listing(thread, moment),
    queryFn: ({ signal }) => orIfMissing(askService(threadCall(thread), listingSchema, { signal }), null),
    enabled: moment !== undefined,
    placeholderData: (before, query) => (query && isAbout(query.queryKey, thread) ? before : undefined),
  });
}

/** What is known of another thread says nothing of this one. */
function isAbout(key: QueryKey, thread: ThreadName): boolean {
  return keys.listing(thread).every((part, at) => key[at] === part);
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
  return useMutation({
    mutationFn: (input: Input) =>
      askService(threadCall(thread), z.unknown(), { method: "PATCH", body: bodyOf(input) }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: keys.listing(thread) });
      void queries.invalidateQueries({ queryKey: keys.threads });
    },
  }).mutateAsync;
}
