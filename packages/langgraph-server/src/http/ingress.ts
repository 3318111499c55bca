import type { HttpBindings } from "@hono/node-server";
import {
  type AgentCatalogPort,
  type Caller,
  type Clock,
  type GraphDescriptor,
  type Json,
  ThroughlineError,
} from "@throughline/ai-core";
import type { Context } from "hono";
import type { AuditFacts } from "../audit/audit-entry.js";
import type { AuditLog } from "../audit/create-audit-log.js";
import type { Logger } from "../operations/logger.js";
import type { RequestTrace } from "../operations/request-trace.js";
import type { Action, Reach } from "../policy/action.js";
import type { AccountLimits, AccountUsage, Place } from "../tenancy/account-limits.js";
import type { CallerResolver, Credentials } from "../tenancy/caller-resolver.js";
import { requireAgent as findAgent } from "../thread/require-agent.js";
import { type SseStream, whenClosed } from "./sse-stream.js";
import type { SseWriter } from "./sse-writer.js";

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
