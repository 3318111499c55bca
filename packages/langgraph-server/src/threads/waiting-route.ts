import { interruptSchema } from "@throughline/ai-core";
import { z } from "zod";
import { queryOf } from "../http/checked-request.js";
import { type RouteParts, requireAgent } from "../http/ingress.js";
import { nextSchema, pageSchema } from "../http/paging.js";
import type { ActionRoute } from "../http/route-table.js";
import { listScope, listVisibilitySchema } from "../http/thread-of.js";
import { visibilityOf, visibilitySchema } from "../thread/visibility.js";
import type { WaitingQuestion, WaitingQuestions } from "./waiting-questions.js";

const querySchema = z.object({
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

/** `GET /waiting`: everything that waits for the caller's answer, of all agents. */
export function waitingRoute(parts: RouteParts<{ readonly waiting: WaitingQuestions }>): ActionRoute {
  return {
    method: "GET",
    path: "/waiting",
    action: "read",
    doc: {
      summary: "List open questions of all agents",
      description:
        "Each can be answered by a run of its thread. Archived threads are left out, and so are threads in which a run goes on.",
      tag: "threads",
      query: querySchema,
      answer: {
        status: 200,
        description: "Newest first",
        schema: z.object({ questions: z.array(waitingSchema), next: nextSchema }),
      },
      errors: ["invalid_input", "not_found"],
    },
    async handle(c, who) {
      const { agentId, visibility = "all", ...page } = queryOf(c, querySchema);
      const graphId = agentId === undefined ? undefined : (await requireAgent(parts, agentId)).graphId;
      const found = await parts.service.waiting(listScope(who, visibility), { ...page, graphId });
      return c.json({ questions: found.questions.map(showWaiting), next: found.next ?? null });
    },
  };
}

function showWaiting({ listing, interrupt }: WaitingQuestion): z.output<typeof waitingSchema> {
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
