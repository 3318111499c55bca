import type { RouteContext, RouteParts } from "./ingress.js";

/** The service's address as a client knows it: as it is configured, else as the request names it. */
export function addressOf(c: RouteContext, { publicUrl }: Pick<RouteParts, "publicUrl">): string {
  return (publicUrl ?? new URL(c.req.url).origin).replace(/\/+$/, "");
}
