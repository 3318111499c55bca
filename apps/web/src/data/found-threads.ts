import * as z from "zod/mini";
import { keys, type Resource, useResource } from "./query";
import { askService } from "./request";
import { threadRowSchema } from "./thread-lists";

export const foundSchema = z.extend(threadRowSchema, {
  /** The newest message with all the words; `null`: they are in the thread's title or name. */
  match: z.nullable(z.object({ messageId: z.string(), snippet: z.string() })),
});
const foundPageSchema = z.object({ threads: z.array(foundSchema) });

/** A thread that a search found. */
export type FoundThread = Readonly<z.output<typeof foundSchema>>;

/** Searches the threads of all agents by title and message text. Empty `search`: no request. Old results stay until new ones. */
export function useFoundThreads(
  search: string,
  { isPerson, limit }: { readonly isPerson: boolean | undefined; readonly limit: number },
): Resource<readonly FoundThread[]> {
  return useResource({
    queryKey: keys.foundThreads(search),
    queryFn: async ({ signal }): Promise<readonly FoundThread[]> => {
      const query = new URLSearchParams({ search, limit: String(limit) });
      const { threads } = await askService(`/threads/search?${query}`, foundPageSchema, { signal });
      // A caller without a subject has the account's threads only, and their URLs carry no visibility.
      return isPerson ? threads : threads.map((row) => ({ ...row, visibility: undefined }));
    },
    enabled: search !== "",
    placeholderData: (before: readonly FoundThread[] | undefined) => (search === "" ? undefined : before),
  });
}
