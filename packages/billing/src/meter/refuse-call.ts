import { ERROR_CODES, type ErrorCode, ThroughlineError, toWireError } from "@throughline/ai-core";

/**
 * A refusal as an answer in the form of the OpenAI and Anthropic APIs. An answer and not an exception: a client library takes
 * an exception of `fetch` for a broken connection and tries again.
 */
export function refuseCall(error: unknown): { readonly code: ErrorCode; readonly response: Response } {
  const { code, message } = toWireError(error);
  const status = error instanceof ThroughlineError ? error.status : ERROR_CODES.internal.status;
  const response = new Response(
    JSON.stringify({ type: "error", error: { message, type: code, code, param: null } }),
    {
      status,
      headers: {
        "content-type": "application/json",
        "x-should-retry": String(status === 503),
        "x-throughline-refused": code,
      },
    },
  );
  return { code, response };
}
