import { httpStatusOf, ThroughlineError, toWireError } from "@throughline/ai-core";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { RouteContext } from "./ingress.js";

/** The one place where a failed request becomes an answer. */
export function answerError(c: RouteContext, error: unknown): Response {
  const wire = toWireError(error);
  const status = httpStatusOf(wire.code);
  if (!(error instanceof ThroughlineError)) c.get("logger").error({ err: error }, "a request failed");
  const retryAfterMs = wire.details?.retryAfterMs;
  if (typeof retryAfterMs === "number")
    c.header("retry-after", String(Math.max(1, Math.ceil(retryAfterMs / 1_000))));
  if (status === 401) c.header("www-authenticate", "Bearer");
  // `ERROR_CODES` holds statuses with a body only.
  return c.json({ ...wire, requestId: c.get("trace").requestId }, status as ContentfulStatusCode);
}
