import { z } from "zod";
import { queryOf } from "../http/checked-request.js";
import { type RouteParts, requireAgent } from "../http/ingress.js";
import { pageSchema } from "../http/paging.js";
import type { ActionRoute } from "../http/route-table.js";
import { listScope, listVisibilitySchema } from "../http/thread-of.js";
import type { FoundThread, ThreadService } from "./thread-service.js";
import { shownThreadSchema, showThread } from "./thread-wire.js";

const querySchema = z.object({
  search: z.string().min(1).max(256).describe("Words, or beginnings of words, in whatever case."),
  agentId: z.string().min(1).max(256).optional().describe("Of one agent only."),
  visibility: listVisibilitySchema.describe(
    "Whose threads: the caller's own, the account's, or both. Default: both.",
  ),
  limit: pageSchema.shape.limit,
});

const foundSchema = shownThreadSchema.extend({
  match: z
    .object({
      messageId: z.string(),
      role: z.enum(["user", "assistant"]),
      snippet: z.string().describe("The message around the first word found."),
    })
    .nullable()
    .describe("The newest message with all the words; null: they are in the thread's title or name."),
});

/** `GET /threads/search`: threads of all agents by title, name and what was said in them. */
export function searchRoute(parts: RouteParts<{ readonly threads: ThreadService }>): ActionRoute {
  const { threads } = parts.service;
  return {
    method: "GET",
    path: "/threads/search",
    action: "read",
    doc: {
      summary: "Find threads of all agents by what was said in them",
      description:
        "Titles and names are searched as in the list of threads; messages of people and assistants by whole words and their beginnings. Archived threads are left out. What is said can be found once its run has ended.",
      tag: "threads",
      query: querySchema,
      answer: {
        status: 200,
        description: "By title and name first, then by messages, each newest first; at most `limit`",
        schema: z.object({ threads: z.array(foundSchema) }),
      },
      errors: ["invalid_input", "not_found"],
    },
    async handle(c, who) {
      const { agentId, visibility = "all", search, limit } = queryOf(c, querySchema);
      const graphId = agentId === undefined ? undefined : (await requireAgent(parts, agentId)).graphId;
      const scope = listScope(who, visibility);
      const query = { graphId, search, limit, isArchived: false };
      const [named, said] = await Promise.all([threads.list(scope, query), threads.search(scope, query)]);
      const found = new Map<string, z.output<typeof foundSchema>>();
      for (const listing of named.threads) {
        found.set(listing.thread.threadId, { ...showThread(listing), match: null });
      }
      for (const { listing, match } of said)
        found.set(listing.thread.threadId, showFound({ listing, match }));
      return c.json({ threads: [...found.values()].slice(0, limit) });
    },
  };
}

function showFound({ listing, match }: FoundThread): z.output<typeof foundSchema> {
  return { ...showThread(listing), match };
}
