import { interruptSchema, type Message, messageSchema } from "@throughline/ai-core";
import { z } from "zod";
import type { FoundThread, ThreadService } from "../../runs/thread-service.js";
import { visibilityOf, visibilitySchema } from "../../threads/thread-address.js";
import type { WaitingInterrupt, WaitingInterrupts } from "../../threads/waiting-interrupts.js";
import { nextSchema, pageSchema } from "../paging.js";
import { type App, parseQuery, requireAgent } from "../request.js";
import { listScope, listVisibilitySchema, threadOf } from "../request-scope.js";
import type { ActionRoute } from "../route.js";
import { shownThreadSchema, showThread } from "./thread-schemas.js";

const searchQuerySchema = z.object({
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

/** `GET /threads/search`: threads of all agents by title, name and the text of their messages. */
export function searchRoute(parts: App<{ readonly threads: ThreadService }>): ActionRoute {
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
      query: searchQuerySchema,
      response: {
        status: 200,
        description: "By title and name first, then by messages, each newest first; at most `limit`",
        schema: z.object({ threads: z.array(foundSchema) }),
      },
      errors: ["invalid_input", "not_found"],
    },
    async handle(c, who) {
      const { agentId, visibility = "all", search, limit } = parseQuery(c, searchQuerySchema);
      const graphId = agentId === undefined ? undefined : (await requireAgent(parts, agentId)).graphId;
      const scope = listScope(who, visibility);
      const query = { graphId, search, limit, isArchived: false };
      const [named, matching] = await Promise.all([threads.list(scope, query), threads.search(scope, query)]);
      const found = new Map<string, z.output<typeof foundSchema>>();
      for (const listing of named.threads) {
        found.set(listing.thread.threadId, { ...showThread(listing), match: null });
      }
      for (const { listing, match } of matching)
        found.set(listing.thread.threadId, showFound({ listing, match }));
      return c.json({ threads: [...found.values()].slice(0, limit) });
    },
  };
}

function showFound({ listing, match }: FoundThread): z.output<typeof foundSchema> {
  return { ...showThread(listing), match };
}

const waitingQuerySchema = z.object({
  agentId: z.string().min(1).max(256).optional().describe("Of one agent only."),
  visibility: listVisibilitySchema.describe(
    "Whose threads: the caller's own, the account's, or both. Default: both.",
  ),
  limit: pageSchema.shape.limit.describe("Threads a page; a thread may ask several things at once."),
  after: pageSchema.shape.after,
});

const waitingSchema = z.object({
  agentId: z.string(),
  threadName: z.string(),
  visibility: visibilitySchema,
  title: z.string().nullable(),
  runId: z.string().describe("The thread's last run."),
  askedAt: z.iso.datetime().describe("Since when the thread waits."),
  kind: z
    .enum(["question", "breakpoint"])
    .describe("`breakpoint`: the graph pauses before a node and asks nothing; `ask-again` makes it go on."),
  interrupt: interruptSchema.nullable().describe("The whole question; null of a breakpoint."),
});

/** `GET /waiting`: open interrupts that wait for the caller's response, of all agents. */
export function waitingRoute(parts: App<{ readonly waiting: WaitingInterrupts }>): ActionRoute {
  return {
    method: "GET",
    path: "/waiting",
    action: "read",
    doc: {
      summary: "List open questions of all agents",
      description:
        "Each can be answered by a run of its thread. Archived threads are left out, and so are threads in which a run goes on.",
      tag: "threads",
      query: waitingQuerySchema,
      response: {
        status: 200,
        description: "Newest first",
        schema: z.object({ questions: z.array(waitingSchema), next: nextSchema }),
      },
      errors: ["invalid_input", "not_found"],
    },
    async handle(c, who) {
      const { agentId, visibility = "all", ...page } = parseQuery(c, waitingQuerySchema);
      const graphId = agentId === undefined ? undefined : (await requireAgent(parts, agentId)).graphId;
      const found = await parts.service.waiting(listScope(who, visibility), { ...page, graphId });
      return c.json({ questions: found.questions.map(showWaiting), next: found.next ?? null });
    },
  };
}

function showWaiting({ listing, interrupt }: WaitingInterrupt): z.output<typeof waitingSchema> {
  return {
    agentId: listing.graphId,
    threadName: listing.threadName,
    visibility: visibilityOf(listing.thread),
    title: listing.title ?? null,
    runId: listing.lastRunId,
    askedAt: new Date(listing.lastActivityAt).toISOString(),
    kind: interrupt ? "question" : "breakpoint",
    interrupt: interrupt ?? null,
  };
}

const exportQuerySchema = z.object({ format: z.enum(["json", "markdown"]).default("markdown") });
const MARKDOWN = "text/markdown";

/** `GET …/export`: one conversation as a file. */
export function exportThreadRoute(parts: App<{ readonly threads: ThreadService }>): ActionRoute {
  const { threads } = parts.service;
  return {
    method: "GET",
    path: "/agents/:agentId/threads/:threadName/export",
    action: "read",
    doc: {
      summary: "Read a conversation as a file",
      description: "What the thread's newest checkpoint holds. Files are named in it and not contained.",
      tag: "threads",
      query: exportQuerySchema,
      response: {
        status: 200,
        description: "The conversation",
        schema: z.object({
          thread: shownThreadSchema,
          exportedAt: z.iso.datetime(),
          messages: z.array(messageSchema),
        }),
        otherType: MARKDOWN,
      },
      errors: ["invalid_input", "not_found"],
    },
    async handle(c, who) {
      const address = await threadOf(c, parts, who);
      const { format } = parseQuery(c, exportQuerySchema);
      // Sequential: in parallel, the error for a missing thread would come from either of the two.
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

export interface ExportedThread {
  readonly title: string;
  readonly agent: string;
  readonly exportedAt: string;
  readonly messages: readonly Message[];
}

const SPEAKERS: Readonly<Record<Message["role"], string>> = {
  user: "You",
  assistant: "Agent",
  system: "System",
  tool: "Tool",
  developer: "Developer",
};

/** Renders a conversation as Markdown: each message under its author, tool calls and results as code. */
export function toMarkdown({ title, agent, exportedAt, messages }: ExportedThread): string {
  const head = `# ${oneLine(title)}\n\n${oneLine(agent)}, ${exportedAt}\n`;
  return [head, ...messages.map(section)].join("\n");
}

function section(message: Message): string {
  const parts = [
    message.role === "tool" ? fenced(textOf(message)) : textOf(message),
    ...(message.tool_calls ?? []).map(({ name, args }) => `Called \`${name}\`:\n\n${fenced(args, "json")}`),
  ].filter((part) => part !== "");
  return `## ${SPEAKERS[message.role]}\n\n${parts.join("\n\n")}\n`;
}

/** Renders media by name only: their URLs need a sign-in. */
function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  return content.map((part) => (typeof part.text === "string" ? part.text : `_(${part.type})_`)).join("\n\n");
}

/** Renders a code block whose fence is longer than any within. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
