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
import {
  type AuditFacts,
  boundedAnswer,
  type NewAuditEntry,
  targetOf,
  withoutContent,
} from "../accounts/audit-entry.js";
import type { AuditLog } from "../accounts/audit-log.js";
import { DELETIONS } from "../accounts/audit-store.js";
import { actorOf, type CallerResolver, type Credentials, toCaller } from "../accounts/callers.js";
import type { AccountLimits, AccountUsage, Place } from "../accounts/limits.js";
import { ACTIONS, type Action, may, type Reach, requireMay } from "../accounts/policy.js";
import type { Logger } from "../operations/logging.js";
import type { RequestTrace } from "../operations/tracing.js";
import { requireAgent as findAgent } from "../threads/thread-address.js";
import { readJsonBody } from "./bodies.js";
import type { SseWriter } from "./sse.js";
import { type SseStream, whenClosed } from "./sse-stream.js";

/** What every route needs of the service behind it. */
export interface RouteService {
  readonly agents: AgentCatalogPort;
  readonly audit: AuditLog;
}

/** `Service`: what a route needs beside that, named where the route is made. */
export interface RouteParts<Service = unknown> {
  readonly service: RouteService & Service;
  readonly resolver: CallerResolver;
  readonly limitsOf: (account: string) => AccountLimits;
  readonly usage: AccountUsage;
  readonly writer: SseWriter;
  readonly clock: Clock;
  /** Whether a request may ask for the `debug` profile, which shows a graph's own error texts. */
  readonly allowDebug: boolean;
  /** The service's address as clients know it, where that is configured. */
  readonly publicUrl?: string | undefined;
  /** The graph of requests that name none; absent, the first that is listed. */
  readonly defaultGraph?: string | undefined;
}

export interface RouteEnv {
  Bindings: HttpBindings;
  Variables: {
    trace: RequestTrace;
    logger: Logger;
    route: string;
    /** Set while a stream goes on after its handler returned. */
    stream?: SseStream;
  };
}
export type RouteContext = Context<RouteEnv>;

/** What does not depend on what the caller asks for. */
interface AnyRequest {
  readonly limits: AccountLimits;
  /** The request's body as JSON, within the account's limits; `undefined` when there is none. */
  readBody(): Promise<Json | undefined>;
}

/** A signed-in caller who was not permitted anything yet. Who they are is told with the permission. */
export interface Asking extends AnyRequest {
  /** Throws `forbidden` where the caller's role never may. */
  permit(action: Action): SignedIn;
}

/** A caller with permission for one action, on what is their own. */
export interface SignedIn extends AnyRequest {
  readonly caller: Caller;
  readonly credentials: Credentials;
  readonly action: Action;
  /** Throws `forbidden` unless the permission goes this far. */
  requireReach(reach: Reach): void;
  /** Adds to what the audit record says of this request. */
  note(facts: AuditFacts): void;
}

/** The agent a path names. */
export function requireAgent({ service }: RouteParts, id: string): Promise<GraphDescriptor> {
  return findAgent(service.agents, id);
}

/** The agent of a request that need not name one. */
export async function requireAgentOrDefault(
  parts: RouteParts,
  id: string | undefined,
): Promise<GraphDescriptor> {
  const named = id ?? parts.defaultGraph;
  if (named !== undefined) return requireAgent(parts, named);
  const [first] = await parts.service.agents.listAgents();
  if (first) return first;
  throw new ThroughlineError("not_found", "This service has no agent. Add a graph to its langgraph.json.");
}

/**
 * From here on the answer is a stream; `place` is given back at its end. What is logged and traced of the request waits for
 * that too. `shares`: subscriptions that write to it.
 */
export function openStream(
  c: RouteContext,
  parts: RouteParts,
  place: Place,
  shares = 1,
): { readonly stream: SseStream; readonly response: Response } {
  const opened = parts.writer.open({ env: c.env, headers: c.res.headers, request: c.req.raw, shares });
  whenClosed(opened.stream, place.leave);
  c.set("stream", opened.stream);
  return opened;
}

/** Who asks. Every route but the open ones begins here, so that none can be reached without. */
export async function signIn(c: RouteContext, parts: RouteParts): Promise<Visit> {
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
  return openVisit({
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

/** 0 where there is no body, `undefined` where its length is not told. */
function declaredLength({ method, headers }: Request): number | undefined {
  const declared = headers.get("content-length");
  if (declared !== null) return Number(declared);
  return method === "GET" || method === "HEAD" ? 0 : undefined;
}

export interface VisitOptions extends Pick<SignedIn, "caller" | "credentials" | "limits" | "readBody"> {
  readonly audit: Pick<AuditLog, "admit" | "record">;
  readonly origin: Pick<NewAuditEntry, "address" | "requestId" | "route">;
}

/** One request of a signed-in caller. */
export interface Visit {
  readonly asking: Asking;
  /** Records what was permitted or refused, and how it ended. Call it once, with what was thrown if anything was. */
  settle(error?: unknown): void;
}

/** The one place that asks the policy and fills the audit record. */
export function openVisit({ audit, origin, ...request }: VisitOptions): Visit {
  const { caller, credentials, limits, readBody } = request;
  const actor = actorOf(credentials);
  let asked: Action | undefined;
  let facts: AuditFacts = {};

  function requirePermission(action: Action, reach: Reach): void {
    // What can't be recorded does not happen: neither an act nor a refusal.
    if (ACTIONS[action].isAudited || !may(actor, action, reach)) audit.admit();
    asked = action;
    requireMay(actor, action, reach);
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
      answer: facts.answer === undefined ? undefined : boundedAnswer(facts.answer),
      times: 1,
    };
  }

  return {
    asking: {
      limits,
      readBody,
      permit(action) {
        requirePermission(action, "own");
        return {
          ...request,
          action,
          requireReach: (reach) => requirePermission(action, reach),
          note(more) {
            facts = { ...facts, ...more, target: { ...facts.target, ...more.target } };
          },
        };
      },
    },
    settle(thrown) {
      if (asked === undefined) return;
      const entry = entryOf(asked, thrown ?? facts.error);
      if (!ACTIONS[asked].isAudited && entry.outcome !== "refused") return;
      // What says that a thread is gone must not go on telling its name.
      audit.record(DELETIONS.has(asked) ? withoutContent(entry) : entry);
    },
  };
}

function outcomeOf(error: unknown): Pick<NewAuditEntry, "outcome" | "code"> {
  if (error === undefined) return { outcome: "done" };
  const { code } = toWireError(error);
  return { outcome: code === "forbidden" ? "refused" : "failed", code };
}

export const errorAnswerSchema = wireErrorSchema.extend({
  requestId: z.string().describe("As in the `x-request-id` header: name it in a report."),
});

/** The one place where a failed request becomes an answer. `as`: the status, where HTTP has one of its own for this refusal. */
export function answerError(c: RouteContext, error: unknown, as?: 416): Response {
  const wire = toWireError(error);
  const status = as ?? httpStatusOf(wire.code);
  if (!(error instanceof ThroughlineError)) c.get("logger").error({ err: error }, "a request failed");
  const retryAfterMs = wire.details?.retryAfterMs;
  if (typeof retryAfterMs === "number")
    c.header("retry-after", String(Math.max(1, Math.ceil(retryAfterMs / 1_000))));
  if (status === 401) c.header("www-authenticate", "Bearer");
  const answer: z.output<typeof errorAnswerSchema> = { ...wire, requestId: c.get("trace").requestId };
  // `ERROR_CODES` holds statuses with a body only.
  return c.json(answer, status as ContentfulStatusCode);
}

/** No body counts as an empty one. */
export async function bodyOf<S extends z.ZodType>(
  who: Pick<SignedIn, "readBody">,
  schema: S,
): Promise<z.output<S>> {
  return checked(schema, (await who.readBody()) ?? {}, "body");
}

export function queryOf<S extends z.ZodType>(c: RouteContext, schema: S): z.output<S> {
  return checked(schema, c.req.query(), "query");
}

/** `invalid_input` that says what is wrong, and in which field. */
export function checked<S extends z.ZodType>(schema: S, input: unknown, where: string): z.output<S> {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw invalidInput(parsed.error, where);
  return parsed.data;
}

/** The service's address as a client knows it: as it is configured, else as the request names it. */
export function addressOf(c: RouteContext, { publicUrl }: Pick<RouteParts, "publicUrl">): string {
  return (publicUrl ?? new URL(c.req.url).origin).replace(/\/+$/, "");
}
