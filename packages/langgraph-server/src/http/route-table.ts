import { ThroughlineError } from "@throughline/ai-core";
import type { Hono } from "hono";
import type { RouteContext, RouteEnv } from "./ingress.js";
import type { RouteDoc } from "./route-doc.js";

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** Answers with an event stream. */
  readonly isStream?: boolean;
  /** Its part of the OpenAPI document. */
  readonly doc: RouteDoc;
  readonly handle: (c: RouteContext) => Promise<Response> | Response;
}

/** Adds routes; any other method on their paths is answered with those there are. */
export function addRoutes(app: Hono<RouteEnv>, routes: readonly Route[]): void {
  for (const { method, path, isStream = false, handle } of routes) {
    app.on(method, path, (c) => {
      c.set("route", `${method} ${path}`);
      // Hono answers HEAD with GET's handler, which for a stream would never end.
      return isStream && c.req.method === "HEAD" ? refuse(c, [method]) : handle(c);
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

function refuse(c: RouteContext, allowed: readonly string[]): never {
  c.header("allow", allowed.join(", "));
  throw new ThroughlineError("method_not_allowed", `Use ${allowed.join(" or ")} here.`, {
    details: { allowed: [...allowed] },
  });
}
