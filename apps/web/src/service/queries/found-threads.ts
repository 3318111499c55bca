"use client";

import * as z from "zod/mini";
import { askService } from "../ask-service";
import { keys } from "./keys";
import { type Resource, useResource } from "./resource";
import { threadRowSchema } from "./threads";

const foundSchema = z.extend(threadRowSchema, {
  /** The newest message with all the words; `null`: they are in the thread's title or name. */
  match: z.nullable(z.object({ messageId: z.string(), snippet: z.string() })),
});
const pageSchema = z.object({ threads: z.array(foundSchema) });

/** A thread that a search found. */
export type FoundThread = Readonly<z.output<typeof foundSchema>>;

/** Threads of all agents, by title and by what was said in them. Empty `search`: nothing is asked. What was found stays until more is. */
export function useFoundThreads(
  search: string,
  { isPerson, limit }: { readonly isPerson: boolean | undefined; readonly limit: number },
): Resource<readonly FoundThread[]> {
  return useResource({
    queryKey: keys.foundThreads(search),
    queryFn: async ({ signal }): Promise<readonly FoundThread[]> => {
      const query = new URLSearchParams({ search, limit: String(limit) });
      const { threads } = await askService(`/threads/search?${query}`, pageSchema, { signal });
      // A caller who is no person has the account's threads alone, and their addresses do not say so.
      return isPerson ? threads : threads.map((row) => ({ ...row, visibility: undefined }));
    },
    enabled: search !== "",
    placeholderData: (before: readonly FoundThread[] | undefined) => (search === "" ? undefined : before),
  });
}
