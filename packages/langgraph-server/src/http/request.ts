import { randomUUID } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import {
  type AgentCatalogPort,
  type Caller,
  type Clock,
  type GraphDescriptor,
  httpStatusOf,
  invalidInput,
  type Json,
  ThroughlineError,
  toWireError,
  wireErrorSchema,
} from "@throughline/ai-core";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { z } from "zod";
import { ACTIONS, type Action, type Reach } from "../accounts/actions.js";
import {
  type AuditFacts,
  type NewAuditEntry,
  targetOf,
  truncatedResponse,
  withoutContent,
} from "../accounts/audit-entry.js";
import type { AuditLog } from "../accounts/audit-log.js";
import { DELETION_ACTIONS } from "../accounts/audit-store.js";
import { actorOf, type CallerResolver, type Credentials, toCaller } from "../accounts/callers.js";
import type { AccountLimiter, AccountLimits, Permit } from "../accounts/limits.js";
import { may, requireAllowed } from "../accounts/policy.js";
import type { Logger } from "../operations/logging.js";
import type { RequestTrace } from "../operations/tracing.js";
import { requireAgent as findAgent } from "../threads/thread-address.js";
import { readJsonBody } from "./bodies.js";
import type { SseWriter } from "./sse.js";
import { type SseStream, whenClosed } from "./sse-stream.js";

/** The part of the service that every route needs. */
export interface RouteService {
  readonly agents: AgentCatalogPort;
  readonly audit: AuditLog;
}

/** What routes are created with. `Service` is the part of the service that a route needs in addition. */
export interface App<Service = unknown> {
  readonly service: RouteService & Service;
  readonly resolver: CallerResolver;
  readonly limitsOf: (account: string) => AccountLimits;
  readonly usage: AccountLimiter;
  readonly writer: SseWriter;
  readonly clock: Clock;
  /** Whether a request may ask for the `debug` profile, which shows a graph's own error texts. */
  readonly allowDebug: boolean;
  /** The service's public address, where it is configured. */
  readonly publicUrl?: string | undefined;
  /** The graph of requests that name none. Default: the first one listed. */
  readonly defaultGraph?: string | undefined;
}

export interface RouteEnv {
  Bindings: HttpBindings;
  Variables: {
    trace: RequestTrace;
    logger: Logger;
    route: string;
    /** Set while a stream is open after its handler returned. */
    stream?: SseStream;
  };
}
export type RouteContext = Context<RouteEnv>;

/** The part of a request that does not depend on its action. */
interface AnyRequest {
  readonly limits: AccountLimits;
  /** Reads the request's body as JSON, within the account's limits; `undefined` when there is none. */
  readBody(): Promise<Json | undefined>;
}

/** A request of a signed-in caller that is not authorized yet. It exposes the caller only with the authorization. */
export interface AuthenticatedRequest extends AnyRequest {
  /** Throws `forbidden` if the caller's role does not allow the action. */
  authorize(action: Action): AuthorizedRequest;
}

/** A request that is authorized for one action, on what is the caller's own. */
export interface AuthorizedRequest extends AnyRequest {
  readonly caller: Caller;
  readonly credentials: Credentials;
  readonly action: Action;
  /** Throws `forbidden` unless the authorization has this reach. */
  requireReach(reach: Reach): void;
  /** Adds facts to the audit entry of this request. */
  audit(facts: AuditFacts): void;
}

/** Finds the agent that a path names. */
export function requireAgent({ service }: App, id: string): Promise<GraphDescriptor> {
  return findAgent(service.agents, id);
}

/** Finds the agent of a request that need not name one. */
export async function requireAgentOrDefault(parts: App, id: string | undefined): Promise<GraphDescriptor> {
  const named = id ?? parts.defaultGraph;
  if (named !== undefined) return requireAgent(parts, named);
  const [first] = await parts.service.agents.listAgents();
  if (first) return first;
  throw new ThroughlineError("not_found", "This service has no agent. Add a graph to its langgraph.json.");
}

/**
 * Opens a stream as the response; `permit` is released at its end. The request's log line and span wait for
 * the end, too. `shares` is the number of subscriptions that write to it.
 */
export function openStream(
  c: RouteContext,
  parts: App,
  permit: Permit,
  shares = 1,
): { readonly stream: SseStream; readonly response: Response } {
  const opened = parts.writer.open({ env: c.env, headers: c.res.headers, request: c.req.raw, shares });
  whenClosed(opened.stream, permit.leave);
  c.set("stream", opened.stream);
  return opened;
}

/** Authenticates the caller. Every route but the open ones begins here, so that none can be reached without it. */
export async function authenticate(c: RouteContext, parts: App): Promise<RequestAudit> {
  const address = c.env?.incoming?.socket.remoteAddress;
  const credentials = await parts.resolver.resolve({
    headers: c.req.raw.headers,
    url: new URL(c.req.url),
    remoteAddress: address,
  });
  if (credentials.expiresAt !== undefined && credentials.expiresAt <= parts.clock.now()) {
    throw new ThroughlineError("unauthorized", "The token has expired.");
  }
  const { requestId, traceId } = c.get("trace");
  const caller = toCaller(credentials, traceId);
  const account = caller.billingAccountId;
  const limits = parts.limitsOf(account);
  const declared = declaredLength(c.req.raw);
  if (declared !== 0) await parts.usage.body(account, limits, declared);
  return trackRequest({
    caller,
    credentials,
    limits,
    audit: parts.service.audit,
    origin: { address, requestId, route: c.get("route") },
    readBody: () =>
      readJsonBody(c.req.raw, {
        incoming: c.env?.incoming,
        maxBytes: limits.maxBodyBytes,
        onRead(bytes) {
          if (declared === undefined) parts.usage.bodyRead(account, limits, bytes);
        },
      }),
  });
}

/** Returns the declared length of a body: 0 where there is none, `undefined` where the length is not declared. */
function declaredLength({ method, headers }: Request): number | undefined {
  const declared = headers.get("content-length");
  if (declared !== null) return Number(declared);
  return method === "GET" || method === "HEAD" ? 0 : undefined;
}

export interface TrackOptions
  extends Pick<AuthorizedRequest, "caller" | "credentials" | "limits" | "readBody"> {
  readonly audit: Pick<AuditLog, "admit" | "record">;
  readonly origin: Pick<NewAuditEntry, "address" | "requestId" | "route">;
}

/** The audit of one request of a signed-in caller. */
export interface RequestAudit {
  readonly authenticated: AuthenticatedRequest;
  /** Records the authorization or refusal, and the outcome. Call it once, with the error if one was thrown. */
  complete(error?: unknown): void;
}

/** Checks the policy and fills the audit entry. No other code does either. */
export function trackRequest({ audit, origin, ...request }: TrackOptions): RequestAudit {
  const { caller, credentials, limits, readBody } = request;
  const actor = actorOf(credentials);
  let asked: Action | undefined;
  let facts: AuditFacts = {};

  function requireAuthorization(action: Action, reach: Reach): void {
    // An act or a refusal that can't be recorded does not happen.
    if (ACTIONS[action].isAudited || !may(actor, action, reach)) audit.admit();
    asked = action;
    requireAllowed(actor, action, reach);
  }

  function entryOf(action: Action, error: unknown): NewAuditEntry {
    return {
      id: randomUUID(),
      account: facts.account ?? caller.billingAccountId,
      subject: caller.subject,
      role: actor.role,
      action,
      ...outcomeOf(error),
      ...origin,
      thread: facts.thread?.ref,
      person: facts.person,
      target: targetOf(facts),
      answer: facts.answer === undefined ? undefined : truncatedResponse(facts.answer),
      times: 1,
    };
  }

  return {
    authenticated: {
      limits,
      readBody,
      authorize(action) {
        requireAuthorization(action, "own");
        return {
          ...request,
          action,
          requireReach: (reach) => requireAuthorization(action, reach),
          audit(more) {
            facts = { ...facts, ...more, target: { ...facts.target, ...more.target } };
          },
        };
      },
    },
    complete(thrown) {
      if (asked === undefined) return;
      const entry = entryOf(asked, thrown ?? facts.error);
      if (!ACTIONS[asked].isAudited && entry.outcome !== "refused") return;
      // The record of a thread's deletion must not contain the thread's name.
      audit.record(DELETION_ACTIONS.has(asked) ? withoutContent(entry) : entry);
    },
  };
}

function outcomeOf(error: unknown): Pick<NewAuditEntry, "outcome" | "code"> {
  if (error === undefined) return { outcome: "done" };
  const { code } = toWireError(error);
  return { outcome: code === "forbidden" ? "refused" : "failed", code };
}

export const errorBodySchema = wireErrorSchema.extend({
  requestId: z.string().describe("As in the `x-request-id` header: name it in a report."),
});

/** Encodes an error as a response; no other code does. `as` is the status where HTTP has a specific one for this refusal. */
export function errorResponse(c: RouteContext, error: unknown, as?: 416): Response {
  const wire = toWireError(error);
  const status = as ?? httpStatusOf(wire.code);
  if (!(error instanceof ThroughlineError)) c.get("logger").error({ err: error }, "a request failed");
  const retryAfterMs = wire.details?.retryAfterMs;
  if (typeof retryAfterMs === "number")
    c.header("retry-after", String(Math.max(1, Math.ceil(retryAfterMs / 1_000))));
  if (status === 401) c.header("www-authenticate", "Bearer");
  const body: z.output<typeof errorBodySchema> = { ...wire, requestId: c.get("trace").requestId };
  // `ERROR_CODES` holds statuses with a body only.
  return c.json(body, status as ContentfulStatusCode);
}

/** Parses a request's body; no body counts as an empty object. */
export async function parseBody<S extends z.ZodType>(
  who: Pick<AuthorizedRequest, "readBody">,
  schema: S,
): Promise<z.output<S>> {
  return parseInput(schema, (await who.readBody()) ?? {}, "body");
}

export function parseQuery<S extends z.ZodType>(c: RouteContext, schema: S): z.output<S> {
  return parseInput(schema, c.req.query(), "query");
}

/** Parses an input. Throws `invalid_input` with the problem and its field. */
export function parseInput<S extends z.ZodType>(schema: S, input: unknown, where: string): z.output<S> {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw invalidInput(parsed.error, where);
  return parsed.data;
}

/** Returns the service's public address: the configured one, else the request's. */
export function publicUrlOf(c: RouteContext, { publicUrl }: Pick<App, "publicUrl">): string {
  return (publicUrl ?? new URL(c.req.url).origin).replace(/\/+$/, "");
}
