import { ThroughlineError } from "@throughline/ai-core";
import type { Hono } from "hono";
import type { Arrival } from "../commands/arrivals.js";
import type { Action } from "../policy/action.js";
import type { Asking, RouteContext, RouteEnv, SignedIn } from "./ingress.js";
import type { Visit } from "./open-visit.js";
import type { RouteDoc } from "./route-doc.js";

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
