import { messageSchema } from "@throughline/ai-core";
import { z } from "zod";
import { queryOf } from "../http/checked-request.js";
import type { RouteParts } from "../http/ingress.js";
import type { ActionRoute } from "../http/route-table.js";
import { threadOf } from "../http/thread-of.js";
import { toMarkdown } from "./markdown-export.js";
import type { ThreadService } from "./thread-service.js";
import { shownThreadSchema, showThread } from "./thread-wire.js";

const querySchema = z.object({ format: z.enum(["json", "markdown"]).default("markdown") });
const MARKDOWN = "text/markdown";

/** `GET …/export`: one conversation to keep, or to send on. */
export function exportThreadRoute(parts: RouteParts<{ readonly threads: ThreadService }>): ActionRoute {
  const { threads } = parts.service;
  return {
    method: "GET",
    path: "/agents/:agentId/threads/:threadName/export",
    action: "read",
    doc: {
      summary: "Read a conversation as a file",
      description: "What the thread's newest checkpoint holds. Files are named in it and not contained.",
      tag: "threads",
      query: querySchema,
      answer: {
        status: 200,
        description: "The conversation",
        schema: z.object({
          thread: shownThreadSchema,
          exportedAt: z.iso.datetime(),
          messages: z.array(messageSchema),
        }),
        orAs: MARKDOWN,
      },
      errors: ["invalid_input", "not_found"],
    },
    async handle(c, who) {
      const address = await threadOf(c, parts, who);
      const { format } = queryOf(c, querySchema);
      // One after the other: side by side, which of them says that there is no thread would be left to chance.
      const listing = await threads.get(address);
      const { messages = [] } = await threads.state(address);
      const thread = showThread(listing);
      const exportedAt = new Date(parts.clock.now()).toISOString();
      const isMarkdown = format === "markdown";
      c.header("content-disposition", `attachment; filename="conversation.${isMarkdown ? "md" : "json"}"`);
      c.header("x-content-type-options", "nosniff");
      c.header("cache-control", "no-store");
      if (!isMarkdown) return c.json({ thread, exportedAt, messages: [...messages] });
      const title = listing.title ?? listing.threadName;
      const text = toMarkdown({ title, agent: listing.graphId, exportedAt, messages });
      return c.body(text, 200, { "content-type": `${MARKDOWN}; charset=utf-8` });
    },
  };
}
