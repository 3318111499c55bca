/** The connection was never made, so LiteLLM saw nothing of the request. */
const BEFORE_CONNECTING = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

/** Whether an exception of `fetch` says that nothing was sent. */
export function neverSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  // Several addresses of one host were tried.
  const causes: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return causes.length > 0 && causes.every(isBeforeConnecting);
}

function isBeforeConnecting(cause: unknown): boolean {
  return (
    cause instanceof Error &&
    "code" in cause &&
    typeof cause.code === "string" &&
    BEFORE_CONNECTING.has(cause.code)
  );
}
