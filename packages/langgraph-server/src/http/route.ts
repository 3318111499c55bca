import { type ErrorCode, ThroughlineError } from "@throughline/ai-core";
import type { Hono } from "hono";
import type { z } from "zod";
import type { Action } from "../accounts/policy.js";
import type { Arrival } from "../runs/stop-runs.js";
import type { Asking, RouteContext, RouteEnv, SignedIn, Visit } from "./request.js";

interface RouteBase {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** Answers with an event stream. */
  readonly isStream?: boolean;
  /** Its part of the OpenAPI document. */
  readonly doc: RouteDoc;
}

type Answer = Promise<Response> | Response;

/** A route whose callers must be permitted one action: its handler never runs without. */
export interface ActionRoute extends RouteBase {
  readonly isOpen?: undefined;
  readonly action: Action;
  readonly handle: (c: RouteContext, who: SignedIn, arrival: Arrival) => Answer;
}

/** A route whose body says which action it is. Its handler learns who asks only by naming one of them. */
export interface ManyActionsRoute extends RouteBase {
  readonly isOpen?: undefined;
  readonly action: "by_request";
  readonly handle: (c: RouteContext, asking: Asking, arrival: Arrival) => Answer;
}

/** A route for signed-in callers. */
export type Route = ActionRoute | ManyActionsRoute;

/** A route that also answers callers who are not signed in. */
export interface OpenRoute extends RouteBase {
  readonly isOpen: true;
  readonly action?: undefined;
  readonly handle: (c: RouteContext) => Answer;
}

export interface RouteDoors {
  signIn(c: RouteContext): Promise<Visit>;
  /** A request counts as arriving before its caller is known, so that a stop sent after it reaches it. */
  arriving<Result>(work: (arrival: Arrival) => Promise<Result>): Promise<Result>;
}

/** Adds routes; any other method on their paths is answered with those there are. */
export function addRoutes(
  app: Hono<RouteEnv>,
  routes: readonly (Route | OpenRoute)[],
  doors: RouteDoors,
): void {
  for (const route of routes) {
    const { method, path, isStream = false } = route;
    app.on(method, path, (c) => {
      c.set("route", `${method} ${path}`);
      // Hono answers HEAD with GET's handler, which for a stream would never end.
      return isStream && c.req.method === "HEAD" ? refuse(c, [method]) : answer(c, route, doors);
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

async function answer(
  c: RouteContext,
  route: Route | OpenRoute,
  { signIn, arriving }: RouteDoors,
): Promise<Response> {
  if (route.isOpen) return route.handle(c);
  return arriving(async (arrival) => {
    const { asking, settle } = await signIn(c);
    try {
      const response =
        route.action === "by_request"
          ? await route.handle(c, asking, arrival)
          : await route.handle(c, asking.permit(route.action), arrival);
      settle();
      return response;
    } catch (error) {
      settle(error);
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

/** What the OpenAPI document says of a route. The schemas are those the route parses with, so that it can't say otherwise. */
export interface RouteDoc {
  /** A short sentence without a full stop: the operation's name in lists. */
  readonly summary: string;
  readonly description?: string;
  readonly tag: RouteTag;
  /** Of the path; a plain non-empty string each where absent, but for names that mean the same everywhere. */
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Where the body is a file instead of JSON: the content types it may have. */
  readonly file?: readonly string[];
  readonly answer: RouteAnswer;
  /** Answers in place of that, where the request's headers ask for it or there is nothing to give. */
  readonly also?: readonly ConditionalAnswer[];
  /** An answer that is neither that nor an error. */
  readonly otherwise?: { readonly status: 503; readonly description: string; readonly schema: z.ZodType };
  /**
   * Refusals that come as a JSON error, beside those that follow from the rest: every request may be malformed or fail
   * (invalid_input, too_large, internal, shutting_down); who must sign in may be refused (unauthorized, forbidden); so may a body
   * (rate_limited) and the name of an agent (not_found, upstream_unavailable).
   */
  readonly errors: readonly ErrorCode[];
}

export type RouteAnswer =
  /** JSON; `orAs` is another content type that the request may ask for. */
  | {
      readonly status: 200 | 201 | 202;
      readonly description: string;
      readonly schema: z.ZodType;
      readonly orAs?: string;
    }
  | { readonly status: 204; readonly description: string }
  /** An event stream; `schema` is of what is answered at once instead, where that depends on the request. */
  | {
      readonly status: 200;
      readonly description: string;
      readonly events: z.ZodType;
      /** The data of the last event, where that is no JSON. */
      readonly lastData?: string;
      readonly schema?: z.ZodType;
    }
  /** Anything else that is no JSON. */
  | { readonly status: 200; readonly description: string; readonly contentType: string };

export type ConditionalAnswer =
  | { readonly status: 204; readonly description: string }
  | { readonly status: 206; readonly description: string; readonly contentType: string }
  | { readonly status: 304; readonly description: string }
  | { readonly status: 416; readonly description: string; readonly code: ErrorCode };
