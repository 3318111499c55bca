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
import type { Logger } from "../operations/logger.js";
import type { RequestTrace } from "../operations/request-trace.js";
import type { AccountLimits, AccountUsage, Place } from "../tenancy/account-limits.js";
import { type CallerResolver, type Credentials, toCaller } from "../tenancy/caller-resolver.js";
import { requireAgent as findAgent } from "../thread/require-agent.js";
import { readJsonBody } from "./read-json-body.js";
import { type SseStream, whenClosed } from "./sse-stream.js";
import type { SseWriter } from "./sse-writer.js";

/** What every route needs of the service behind it. */
export interface RouteService {
  readonly agents: AgentCatalogPort;
}

/** `Service`: what a route needs beside that, named where the route is made. */
export interface RouteParts<Service = unknown> {
  readonly service: RouteService & Service;
  readonly resolver: CallerResolver;
  readonly limitsOf: (account: string) => AccountLimits;
  readonly usage: AccountUsage;
  readonly writer: SseWriter;
  readonly clock: Clock;
  /** Whether a request may ask for the `debug` profile, which shows prompts. */
  readonly allowDebug: boolean;
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

export interface SignedIn {
  readonly caller: Caller;
  readonly credentials: Credentials;
  readonly limits: AccountLimits;
  /** The request's body as JSON, within the account's limits; `undefined` when there is none. */
  readBody(): Promise<Json | undefined>;
}

/** Who asks. Every route that touches a thread begins here, so that none can be reached without. */
export async function signIn(c: RouteContext, parts: RouteParts): Promise<SignedIn> {
  const credentials = await parts.resolver.resolve({
    headers: c.req.raw.headers,
    url: new URL(c.req.url),
    remoteAddress: c.env?.incoming?.socket.remoteAddress,
  });
  if (credentials.expiresAt !== undefined && credentials.expiresAt <= parts.clock.now()) {
    throw new ThroughlineError("unauthorized", "The token has expired.");
  }
  const caller = toCaller(credentials, c.get("trace").traceId);
  const account = caller.billingAccountId;
  const limits = parts.limitsOf(account);
  const declared = declaredLength(c.req.raw);
  if (declared !== 0) await parts.usage.body(account, limits, declared);
  return {
    caller,
    credentials,
    limits,
    readBody: () =>
      readJsonBody(c.req.raw, {
        incoming: c.env?.incoming,
        maxBytes: limits.maxBodyBytes,
        onRead(bytes) {
          if (declared === undefined) parts.usage.bodyRead(account, limits, bytes);
        },
      }),
  };
}

/** 0 where there is no body, `undefined` where its length is not told. */
function declaredLength({ method, headers }: Request): number | undefined {
  const declared = headers.get("content-length");
  if (declared !== null) return Number(declared);
  return method === "GET" || method === "HEAD" ? 0 : undefined;
}

/** The agent a path names. */
export function requireAgent({ service }: RouteParts, id: string): Promise<GraphDescriptor> {
  return findAgent(service.agents, id);
}

/**
 * From here on the answer is a stream; `place` is given back at its end. What is logged and traced of the request waits for
 * that too.
 */
export function openStream(
  c: RouteContext,
  parts: RouteParts,
  place: Place,
): { readonly stream: SseStream; readonly response: Response } {
  const opened = parts.writer.open({ env: c.env, headers: c.res.headers, request: c.req.raw });
  whenClosed(opened.stream, place.leave);
  c.set("stream", opened.stream);
  return opened;
}
