import { type ErrorCode, ThroughlineError } from "@throughline/ai-core";

/** The HTTP status an SDK call failed with; `undefined` when no answer came at all. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("status" in error)) return undefined;
  return typeof error.status === "number" ? error.status : undefined;
}

/** No answer, or one that says "later": the same request may succeed in a moment. */
export function isUnreachable(error: unknown): boolean {
  const status = statusOf(error);
  return status === undefined ? !(error instanceof ThroughlineError) : RETRYABLE.has(status);
}

const RETRYABLE = new Set([408, 429, 502, 503, 504]);

const BY_STATUS: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  400: ["invalid_input", "The LangGraph server did not accept the request."],
  // Not the caller's key but ours, so the caller is not told to sign in.
  401: [
    "upstream_unavailable",
    "The LangGraph server refused our credentials: check LANGGRAPH_SERVER_API_KEY.",
  ],
  403: [
    "upstream_unavailable",
    "The LangGraph server refused our credentials: check LANGGRAPH_SERVER_API_KEY.",
  ],
  404: ["not_found", "The LangGraph server does not know this thread or run."],
  409: ["busy", "The thread is busy with another run."],
  413: ["too_large", "The LangGraph server refused the request as too large."],
  422: ["busy", "The thread is busy with another run."],
  429: ["rate_limited", "The LangGraph server asks us to slow down."],
};

/**
 * A failure of the server in our own words. The upstream's text stays in `cause`, which is never sent: it may hold a key,
 * a prompt or a path.
 */
export function toUpstreamError(error: unknown): ThroughlineError {
  if (error instanceof ThroughlineError) return error;
  const status = statusOf(error);
  const [code, message] = (status === undefined ? undefined : BY_STATUS[status]) ?? [
    "upstream_unavailable",
    status === undefined
      ? "The LangGraph server could not be reached."
      : `The LangGraph server failed with status ${status}.`,
  ];
  return new ThroughlineError(code, message, { cause: error });
}
