import { type Json, ThroughlineError, threadNameSchema } from "@throughline/ai-core";
import type { ThreadListing } from "@throughline/thread-log";
import { z } from "zod";
import { checked } from "../http/checked-request.js";
import { type RouteContext, type RouteParts, requireAgent, type SignedIn } from "../http/ingress.js";
import type { RouteDoc } from "../http/route-doc.js";
import type { Route } from "../http/route-table.js";
import { wholeNumber } from "../http/whole-number.js";
import { type ThreadAddress, threadAddress } from "../thread/thread-address.js";
import type { ThreadService } from "../threads/thread-service.js";
import { titleSchema } from "../threads/thread-wire.js";

const listSchema = z.object({
  agentId: z.string().max(256).optional(),
  includeArchived: z.enum(["true", "false"]).default("false"),
  limit: wholeNumber(1, 100).default(50),
  cursor: z.string().min(1).max(1_000).optional(),
});

const changeSchema = z.object({
  agentId: z.string().min(1).max(256),
  name: titleSchema.nullish(),
  archived: z.boolean().optional(),
});
const ownerSchema = changeSchema.pick({ agentId: true });

const recordSchema = z.object({
  id: z.string().describe("The thread's name."),
  organizationId: z.string(),
  agentId: z.string(),
  createdById: z.string(),
  name: z.string().nullable(),
  archived: z.boolean(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  lastRunAt: z.iso.datetime(),
});

/** What `/info` says, so that stock clients ask at all. Changes are not told live: that takes CopilotKit's own service. */
export const THREAD_ENDPOINTS = {
  list: true,
  inspect: false,
  mutations: true,
  realtimeMetadata: false,
} as const;

/** A wish about threads, whichever way it came. */
export interface ThreadWish {
  readonly method: string;
  /** Below the base path: `/threads`, `/threads/:id` or `/threads/:id/archive`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: () => Promise<Json | undefined>;
}

/** CopilotKit's `/threads`, as its `useThreads` asks: a thread's id is its name, and each is one agent's. */
export function copilotkitThreads(parts: RouteParts<{ readonly threads: ThreadService }>): {
  answer(c: RouteContext, who: SignedIn, wish: ThreadWish): Promise<Response>;
  routes(base: string): Route[];
} {
  const { threads } = parts.service;

  async function list(c: RouteContext, { caller }: SignedIn, query: ThreadWish["query"]): Promise<Response> {
    const { agentId, includeArchived, limit, cursor } = checked(listSchema, query, "query");
    const agent = agentId === undefined ? undefined : await requireAgent(parts, agentId);
    const { billingAccountId: account, subject } = caller;
    const page = await threads.list(
      { account, subject },
      {
        graphId: agent?.graphId,
        isArchived: includeArchived === "true" ? undefined : false,
        limit,
        after: cursor,
      },
    );
    return c.json({
      threads: page.threads.map((listing) => showRecord(listing, agentId)),
      nextCursor: page.next ?? null,
    });
  }

  async function addressOf({ caller }: SignedIn, agentId: string, id: string): Promise<ThreadAddress> {
    const { graphName } = await requireAgent(parts, agentId);
    return threadAddress(caller, graphName, checked(threadNameSchema, id, "threadId"));
  }

  async function change(
    c: RouteContext,
    who: SignedIn,
    id: string,
    body: Json | undefined,
  ): Promise<Response> {
    const { agentId, name, archived } = checked(changeSchema, body ?? {}, "body");
    const changed = await threads.change(await addressOf(who, agentId, id), {
      title: name,
      isArchived: archived,
    });
    return c.json(showRecord(changed, agentId));
  }

  async function archive(
    c: RouteContext,
    who: SignedIn,
    id: string,
    body: Json | undefined,
  ): Promise<Response> {
    const { agentId } = checked(ownerSchema, body ?? {}, "body");
    const changed = await threads.change(await addressOf(who, agentId, id), { isArchived: true });
    return c.json(showRecord(changed, agentId));
  }

  async function remove(
    c: RouteContext,
    who: SignedIn,
    id: string,
    body: Json | undefined,
  ): Promise<Response> {
    const { agentId } = checked(ownerSchema, body ?? {}, "body");
    await threads.remove(await addressOf(who, agentId, id));
    return c.json({ deleted: true });
  }

  async function answer(c: RouteContext, who: SignedIn, wish: ThreadWish): Promise<Response> {
    const [, root, id, action, ...rest] = wish.path.split("/");
    if (root === "threads" && rest.length === 0) {
      if (id === undefined && wish.method === "GET") return list(c, who, wish.query);
      if (id !== undefined && id !== "") {
        const name = decodeName(id);
        if (action === undefined && wish.method === "PATCH") return change(c, who, name, await wish.body());
        if (action === undefined && wish.method === "DELETE") return remove(c, who, name, await wish.body());
        if (action === "archive" && wish.method === "POST") return archive(c, who, name, await wish.body());
      }
    }
    throw new ThroughlineError("not_found", "There is no such route.");
  }

  function route(method: Route["method"], base: string, path: string, doc: RouteDoc): Route {
    return {
      method,
      path: `${base}${path}`,
      doc,
      async handle(c, who) {
        const below = new URL(c.req.url).pathname.slice(base.length);
        return answer(c, who, { method, path: below, query: c.req.query(), body: who.readBody });
      },
    };
  }

  return {
    answer,
    routes: (base) => [
      route("GET", base, "/threads", {
        summary: "List threads, for CopilotKit",
        tag: "threads",
        query: listSchema,
        answer: {
          status: 200,
          description: "Newest activity first",
          schema: z.object({ threads: z.array(recordSchema), nextCursor: z.string().nullable() }),
        },
        errors: ["invalid_input", "not_found"],
      }),
      route("PATCH", base, "/threads/:threadId", {
        summary: "Rename a thread or take it back, for CopilotKit",
        tag: "threads",
        body: changeSchema,
        answer: { status: 200, description: "The thread as it is now", schema: recordSchema },
        errors: ["invalid_input", "not_found", "too_large"],
      }),
      route("DELETE", base, "/threads/:threadId", {
        summary: "Delete a thread, for CopilotKit",
        tag: "threads",
        body: ownerSchema,
        answer: { status: 200, description: "It is gone", schema: z.object({ deleted: z.literal(true) }) },
        errors: ["invalid_input", "not_found", "method_not_allowed", "too_large"],
      }),
      route("POST", base, "/threads/:threadId/archive", {
        summary: "Archive a thread, for CopilotKit",
        tag: "threads",
        body: ownerSchema,
        answer: { status: 200, description: "The thread as it is now", schema: recordSchema },
        errors: ["invalid_input", "not_found", "too_large"],
      }),
    ],
  };
}

/** `agentId` as the client spells it: it drops threads of agents it does not know. */
function showRecord(listing: ThreadListing, agentId = listing.graphId): z.output<typeof recordSchema> {
  const { thread, threadName, title, isArchived, createdAt, lastActivityAt } = listing;
  return {
    id: threadName,
    organizationId: thread.account,
    agentId,
    createdById: thread.subject ?? thread.account,
    name: title ?? null,
    archived: isArchived,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(lastActivityAt).toISOString(),
    lastRunAt: new Date(lastActivityAt).toISOString(),
  };
}

/** Of a path. What is encoded as nothing is the name of nothing, and is refused as such. */
function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
