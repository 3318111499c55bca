import { ERROR_CODES, type ErrorCode } from "../errors/error-codes.js";
import { ThroughlineError, toWireError } from "../errors/throughline-error.js";

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

/** What a model call is refused with that no run pays for. */
export function outsideOfRun(): ThroughlineError {
  return new ThroughlineError(
    "forbidden",
    "Models can be called from within a run only, which pays for them.",
  );
}
