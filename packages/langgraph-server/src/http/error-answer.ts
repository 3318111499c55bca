import { httpStatusOf, ThroughlineError, toWireError, wireErrorSchema } from "@throughline/ai-core";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { z } from "zod";
import type { RouteContext } from "./ingress.js";

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
