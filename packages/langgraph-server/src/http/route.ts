import { type ErrorCode, ThroughlineError } from "@throughline/ai-core";
import type { Hono } from "hono";
import type { z } from "zod";
import type { Action } from "../accounts/actions.js";
import type { Arrival } from "../runs/stop-runs.js";
import type {
  AuthenticatedRequest,
  AuthorizedRequest,
  RequestAudit,
  RouteContext,
  RouteEnv,
} from "./request.js";

interface RouteBase {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** Whether the response is an event stream. */
  readonly isStream?: boolean;
  /** The route's part of the OpenAPI document. */
  readonly doc: RouteDoc;
}

type HandlerResult = Promise<Response> | Response;

/** A route with one action: its handler runs only if the caller is authorized for it. */
export interface ActionRoute extends RouteBase {
  readonly isOpen?: undefined;
  readonly action: Action;
  readonly handle: (c: RouteContext, who: AuthorizedRequest, arrival: Arrival) => HandlerResult;
}

/** A route whose body determines the action. Its handler learns the caller only by authorizing one action. */
export interface ManyActionsRoute extends RouteBase {
  readonly isOpen?: undefined;
  readonly action: "by_request";
  readonly handle: (c: RouteContext, authenticated: AuthenticatedRequest, arrival: Arrival) => HandlerResult;
}

/** A route for signed-in callers. */
export type Route = ActionRoute | ManyActionsRoute;

/** A route that also serves callers who are not signed in. */
export interface OpenRoute extends RouteBase {
  readonly isOpen: true;
  readonly action?: undefined;
  readonly handle: (c: RouteContext) => HandlerResult;
}

export interface RouteGuards {
  authenticate(c: RouteContext): Promise<RequestAudit>;
  /** Counts a request as arriving before its caller is known, so that a stop sent after it reaches it. */
  arriving<Result>(work: (arrival: Arrival) => Promise<Result>): Promise<Result>;
}

/** Adds routes. Other methods on their paths are refused with the list of allowed ones. */
export function addRoutes(
  app: Hono<RouteEnv>,
  routes: readonly (Route | OpenRoute)[],
  guards: RouteGuards,
): void {
  for (const route of routes) {
    const { method, path, isStream = false } = route;
    app.on(method, path, (c) => {
      c.set("route", `${method} ${path}`);
      // Hono answers HEAD with GET's handler, which for a stream would never end.
      return isStream && c.req.method === "HEAD" ? refuse(c, [method]) : handle(c, route, guards);
    });
  }
  const paths = new Set(routes.map(({ path }) => path));
  for (const path of paths) {
    const allowed = routes.filter((route) => route.path === path).map(({ method }) => method);
    app.all(path, (c) => {
      c.set("route", path);
      return refuse(c, allowed);
    });
  }
}

async function handle(
  c: RouteContext,
  route: Route | OpenRoute,
  { authenticate, arriving }: RouteGuards,
): Promise<Response> {
  if (route.isOpen) return route.handle(c);
  return arriving(async (arrival) => {
    const { authenticated, complete } = await authenticate(c);
    try {
      const response =
        route.action === "by_request"
          ? await route.handle(c, authenticated, arrival)
          : await route.handle(c, authenticated.authorize(route.action), arrival);
      complete();
      return response;
    } catch (error) {
      complete(error);
      throw error;
    }
  });
}

function refuse(c: RouteContext, allowed: readonly string[]): never {
  c.header("allow", allowed.join(", "));
  throw new ThroughlineError("method_not_allowed", `Use ${allowed.join(" or ")} here.`, {
    details: { allowed: [...allowed] },
  });
}

export type RouteTag =
  | "agents"
  | "runs"
  | "threads"
  | "crons"
  | "attachments"
  | "feedback"
  | "account"
  | "spending"
  | "operations";

/** A route's entry in the OpenAPI document. The schemas are those the route parses with, so that the two can't differ. */
export interface RouteDoc {
  /** A short sentence without a full stop: the operation's name in lists. */
  readonly summary: string;
  readonly description?: string;
  readonly tag: RouteTag;
  /** The path's parameters. Absent ones are non-empty strings, but for names that mean the same everywhere. */
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The content types of a body that is a file instead of JSON. */
  readonly file?: readonly string[];
  readonly response: RouteResponse;
  /** Alternative responses, where the request's headers ask for one or there is no content. */
  readonly alternatives?: readonly ConditionalResponse[];
  /** A 503 response that is no error. */
  readonly unavailable?: { readonly status: 503; readonly description: string; readonly schema: z.ZodType };
  /**
   * Refusals that come as a JSON error, in addition to those that follow from the rest: every request may be malformed or fail
   * (invalid_input, too_large, internal, shutting_down); a caller who must sign in may be refused (unauthorized, forbidden); so may
   * a body (rate_limited) and the name of an agent (not_found, upstream_unavailable).
   */
  readonly errors: readonly ErrorCode[];
}

export type RouteResponse =
  /** JSON; `otherType` is an alternative content type that the request may ask for. */
  | {
      readonly status: 200 | 201 | 202;
      readonly description: string;
      readonly schema: z.ZodType;
      readonly otherType?: string;
    }
  | { readonly status: 204; readonly description: string }
  /** An event stream; `schema` describes the JSON that is sent instead, where that depends on the request. */
  | {
      readonly status: 200;
      readonly description: string;
      readonly events: z.ZodType;
      /** The data of the last event, where it is not JSON. */
      readonly lastData?: string;
      readonly schema?: z.ZodType;
    }
  /** Any other response that is not JSON. */
  | { readonly status: 200; readonly description: string; readonly contentType: string };

export type ConditionalResponse =
  | { readonly status: 204; readonly description: string }
  | { readonly status: 206; readonly description: string; readonly contentType: string }
  | { readonly status: 304; readonly description: string }
  | { readonly status: 416; readonly description: string; readonly code: ErrorCode };
