import { ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import { actorOf } from "../../accounts/callers.js";
import { reachOf } from "../../accounts/policy.js";
import {
  FEEDBACK_VALUES,
  type Feedback,
  type FeedbackPage,
  type FeedbackStore,
} from "../../threads/feedback-store.js";
import { decodePageCursor, encodePageCursor } from "../../threads/paging.js";
import { visibilityOf, visibilitySchema } from "../../threads/thread-address.js";
import { nextSchema, pageSchema } from "../paging.js";
import { type App, type AuthorizedRequest, parseBody, parseQuery, requireAgent } from "../request.js";
import { threadOf } from "../request-scope.js";
import type { ActionRoute } from "../route.js";

const THREAD = "/agents/:agentId/threads/:threadName";
const MAX_NOTE = 2_000;

const messageId = z.string().min(1).max(512).refine(isStorable, "must not hold a NUL");
const value = z.enum(FEEDBACK_VALUES);

const giveSchema = z.strictObject({
  messageId: messageId.describe("The message that it is about."),
  runId: z.string().min(1).max(256).refine(isStorable, "must not hold a NUL").optional(),
  value,
  note: z.string().trim().max(MAX_NOTE).refine(isStorable, "must not hold a NUL").optional(),
});
const takeBackSchema = z.object({ messageId });
const listSchema = z.object({
  since: z.iso
    .datetime()
    .transform((text) => Date.parse(text))
    .optional()
    .describe("Changed at this moment or later."),
  agentId: z.string().min(1).max(256).optional().describe("Of one agent only."),
  value: value.optional(),
  ...pageSchema.shape,
});

const shownSchema = z.object({
  agentId: z.string(),
  threadName: z.string(),
  visibility: visibilitySchema,
  messageId: z.string(),
  runId: z.string().nullable(),
  value,
  note: z.string().nullable(),
  subject: z.string().nullable().describe("Who gave it; null: a caller who is no person."),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
const pageAnswer = z.object({ feedback: z.array(shownSchema), next: nextSchema });

/** Routes for feedback on messages: a thumb and a note, one per person and message. */
export function feedbackRoutes(parts: App<{ readonly feedback: FeedbackStore }>): ActionRoute[] {
  const { feedback } = parts.service;
  return [
    {
      method: "PUT",
      path: `${THREAD}/feedback`,
      action: "give_feedback",
      doc: {
        summary: "Say what you think of a message",
        description: "Replaces what the caller said of it before.",
        tag: "feedback",
        body: giveSchema,
        response: { status: 200, description: "As it is kept", schema: shownSchema },
        errors: ["invalid_input", "not_found"],
      },
      async handle(c, who) {
        const { ref: thread } = await threadOf(c, parts, who);
        const { note, runId, ...given } = await parseBody(who, giveSchema);
        const author = who.caller.subject;
        const put = await feedback.put({
          thread,
          author,
          note: note === "" ? undefined : note,
          runId,
          ...given,
        });
        if (!put) throw new ThroughlineError("not_found", "There is no such thread.");
        return c.json(showFeedback(put));
      },
    },
    {
      method: "DELETE",
      path: `${THREAD}/feedback`,
      action: "give_feedback",
      doc: {
        summary: "Take back what you said of a message",
        tag: "feedback",
        query: takeBackSchema,
        response: { status: 204, description: "It is gone" },
        errors: ["invalid_input", "not_found"],
      },
      async handle(c, who) {
        const { ref } = await threadOf(c, parts, who);
        const { messageId: id } = parseQuery(c, takeBackSchema);
        if (!(await feedback.remove(ref, id, who.caller.subject)))
          throw new ThroughlineError("not_found", "You said nothing of this message.");
        return c.body(null, 204);
      },
    },
    {
      method: "GET",
      path: `${THREAD}/feedback`,
      action: "read",
      doc: {
        summary: "List what people think of a thread's messages",
        tag: "feedback",
        query: pageSchema,
        response: { status: 200, description: "What was changed last first", schema: pageAnswer },
        errors: ["invalid_input", "not_found"],
      },
      async handle(c, who) {
        const { ref } = await threadOf(c, parts, who);
        const { limit, after } = parseQuery(c, pageSchema);
        const query = {
          threadId: ref.threadId,
          limit,
          after: after === undefined ? undefined : decodePageCursor(after),
        };
        return c.json(showPage(await feedback.list(ref, query)));
      },
    },
    {
      method: "GET",
      path: "/feedback",
      action: "read_feedback",
      doc: {
        summary: "List feedback of the account",
        description: "For an admin everyone's, else what the caller gave.",
        tag: "feedback",
        query: listSchema,
        response: { status: 200, description: "What was changed last first", schema: pageAnswer },
        errors: ["invalid_input", "not_found"],
      },
      async handle(c, who) {
        const { agentId, after, ...query } = parseQuery(c, listSchema);
        const graphId = agentId === undefined ? undefined : (await requireAgent(parts, agentId)).graphId;
        const page = await feedback.list(
          { account: who.caller.billingAccountId, everySubject: true },
          {
            ...query,
            graphId,
            author: authorOf(who),
            after: after === undefined ? undefined : decodePageCursor(after),
          },
        );
        return c.json(showPage(page));
      },
    },
  ];
}

/** Resolves whose feedback the caller sees; `undefined` is everyone's. A caller who is no person has none of their own. */
function authorOf(who: AuthorizedRequest): string | undefined {
  if (reachOf(actorOf(who.credentials), who.action) === "everyone") return undefined;
  who.requireReach(who.caller.subject === undefined ? "everyone" : "own");
  return who.caller.subject;
}

function showPage({ feedback, next }: FeedbackPage): z.output<typeof pageAnswer> {
  return { feedback: feedback.map(showFeedback), next: next ? encodePageCursor(next) : null };
}

function showFeedback(feedback: Feedback): z.output<typeof shownSchema> {
  return {
    agentId: feedback.graphId,
    threadName: feedback.threadName,
    visibility: visibilityOf(feedback.thread),
    messageId: feedback.messageId,
    runId: feedback.runId ?? null,
    value: feedback.value,
    note: feedback.note ?? null,
    subject: feedback.author ?? null,
    createdAt: new Date(feedback.createdAt).toISOString(),
    updatedAt: new Date(feedback.updatedAt).toISOString(),
  };
}

/** Whether PostgreSQL's text can hold the value. */
function isStorable(text: string): boolean {
  return !text.includes("\u0000");
}
