import { type Json, ThroughlineError, threadNameSchema } from "@throughline/ai-core";
import type { ThreadListing } from "@throughline/thread-log";
import { z } from "zod";
import type { Action } from "../../accounts/actions.js";
import type { ThreadService } from "../../runs/thread-service.js";
import type { ThreadAddress } from "../../threads/thread-address.js";
import { wholeNumber } from "../paging.js";
import {
  type App,
  type AuthenticatedRequest,
  type AuthorizedRequest,
  parseInput,
  type RouteContext,
  requireAgent,
} from "../request.js";
import { listScope, listVisibilitySchema, threadFor, visibilityQuerySchema } from "../request-scope.js";
import type { Route, RouteDoc } from "../route.js";
import { titleSchema } from "./thread-schemas.js";

const listSchema = z.object({
  agentId: z.string().max(256).optional(),
  includeArchived: z.enum(["true", "false"]).default("false"),
  limit: wholeNumber(1, 100).default(50),
  cursor: z.string().min(1).max(1_000).optional(),
  visibility: listVisibilitySchema,
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

/**
 * The capabilities in `/info`, without which stock clients send no requests about threads. Changes are not sent live: that takes
 * CopilotKit's own service.
 */
export const THREAD_ENDPOINTS = {
  list: true,
  inspect: false,
  mutations: true,
  realtimeMetadata: false,
} as const;

/** A request about threads, by its own route or in an envelope. */
export interface ThreadRequest {
  readonly method: string;
  /** The path below the base path: `/threads`, `/threads/:id` or `/threads/:id/archive`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: () => Promise<Json | undefined>;
}

interface ThreadOperation {
  readonly method: Route["method"];
  readonly path: string;
  readonly action: Action;
  readonly doc: RouteDoc;
  /** Executes the operation. `id` is the thread's name, where the path has one. */
  perform(c: RouteContext, who: AuthorizedRequest, request: ThreadRequest, id: string): Promise<Response>;
}

/** CopilotKit's `/threads`, for its `useThreads`: a thread's id is its name, and a thread belongs to one agent. */
export function copilotkitThreads(parts: App<{ readonly threads: ThreadService }>): {
  /** Executes a request from an envelope; its operation decides which action is authorized. */
  execute(c: RouteContext, authenticated: AuthenticatedRequest, request: ThreadRequest): Promise<Response>;
  routes(base: string): Route[];
} {
  const { threads } = parts.service;

  async function addressOf(
    who: AuthorizedRequest,
    agentId: string,
    id: string,
    { query }: ThreadRequest,
  ): Promise<ThreadAddress> {
    const { graphName } = await requireAgent(parts, agentId);
    const { visibility } = parseInput(visibilityQuerySchema, query, "query");
    return threadFor(who, {
      graphName,
      threadName: parseInput(threadNameSchema, id, "threadId"),
      visibility,
    });
  }

  const list: ThreadOperation = {
    method: "GET",
    path: "/threads",
    action: "read",
    doc: {
      summary: "List threads, for CopilotKit",
      tag: "threads",
      query: listSchema,
      response: {
        status: 200,
        description: "Newest activity first",
        schema: z.object({ threads: z.array(recordSchema), nextCursor: z.string().nullable() }),
      },
      errors: ["invalid_input", "not_found"],
    },
    async perform(c, who, { query }) {
      const { agentId, includeArchived, limit, cursor, visibility } = parseInput(listSchema, query, "query");
      const agent = agentId === undefined ? undefined : await requireAgent(parts, agentId);
      const page = await threads.list(listScope(who, visibility), {
        graphId: agent?.graphId,
        isArchived: includeArchived === "true" ? undefined : false,
        limit,
        after: cursor,
      });
      return c.json({
        threads: page.threads.map((listing) => showRecord(listing, agentId)),
        nextCursor: page.next ?? null,
      });
    },
  };
  const change: ThreadOperation = {
    method: "PATCH",
    path: "/threads/:threadId",
    action: "edit",
    doc: {
      summary: "Rename a thread or take it back, for CopilotKit",
      tag: "threads",
      query: visibilityQuerySchema,
      body: changeSchema,
      response: { status: 200, description: "The thread as it is now", schema: recordSchema },
      errors: ["invalid_input", "not_found", "too_large"],
    },
    async perform(c, who, request, id) {
      const { agentId, name, archived } = parseInput(changeSchema, (await request.body()) ?? {}, "body");
      const thread = await addressOf(who, agentId, id, request);
      return c.json(showRecord(await threads.change(thread, { title: name, isArchived: archived }), agentId));
    },
  };
  const remove: ThreadOperation = {
    method: "DELETE",
    path: "/threads/:threadId",
    action: "delete_thread",
    doc: {
      summary: "Delete a thread, for CopilotKit",
      tag: "threads",
      query: visibilityQuerySchema,
      body: ownerSchema,
      response: { status: 200, description: "It is gone", schema: z.object({ deleted: z.literal(true) }) },
      errors: ["invalid_input", "not_found", "method_not_allowed", "too_large"],
    },
    async perform(c, who, request, id) {
      const { agentId } = parseInput(ownerSchema, (await request.body()) ?? {}, "body");
      await threads.remove(await addressOf(who, agentId, id, request));
      return c.json({ deleted: true });
    },
  };
  const archive: ThreadOperation = {
    method: "POST",
    path: "/threads/:threadId/archive",
    action: "edit",
    doc: {
      summary: "Archive a thread, for CopilotKit",
      tag: "threads",
      query: visibilityQuerySchema,
      body: ownerSchema,
      response: { status: 200, description: "The thread as it is now", schema: recordSchema },
      errors: ["invalid_input", "not_found", "too_large"],
    },
    async perform(c, who, request, id) {
      const { agentId } = parseInput(ownerSchema, (await request.body()) ?? {}, "body");
      const thread = await addressOf(who, agentId, id, request);
      return c.json(showRecord(await threads.change(thread, { isArchived: true }), agentId));
    },
  };
  const operations = [list, change, remove, archive];

  return {
    async execute(c, authenticated, request) {
      const asked = request.path.split("/");
      const operation = operations.find(
        ({ method, path }) => method === request.method && fits(path.split("/"), asked),
      );
      if (!operation) throw new ThroughlineError("not_found", "There is no such route.");
      return operation.perform(
        c,
        authenticated.authorize(operation.action),
        request,
        decodeName(asked[2] ?? ""),
      );
    },
    routes: (base) =>
      operations.map(({ method, path, action, doc, perform }) => ({
        method,
        path: `${base}${path}`,
        action,
        doc,
        handle: (c, who) => {
          const below = new URL(c.req.url).pathname.slice(base.length);
          const request = { method, path: below, query: c.req.query(), body: who.readBody };
          return perform(c, who, request, decodeName(below.split("/")[2] ?? ""));
        },
      })),
  };
}

function fits(path: readonly string[], asked: readonly string[]): boolean {
  return (
    path.length === asked.length &&
    path.every((part, index) => (part.startsWith(":") ? asked[index] !== "" : asked[index] === part))
  );
}

/** Encodes a thread. `agentId` is spelled as the client does: it drops threads of agents that it does not know. */
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

/** Decodes a name in a path. A malformed one becomes the empty name, which is refused. */
function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
