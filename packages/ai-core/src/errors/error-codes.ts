/**
 * The closed union of all error codes on the wire. `status` is the HTTP status where an error is the response to a request;
 * codes without one only ever end a run or a stream. `hint` is the advice for a person.
 */
export const ERROR_CODES = {
  invalid_input: { status: 400, hint: "Correct the named field and send the request again." },
  model_not_allowed: { status: 400, hint: "Choose one of the models named in the message." },
  unauthorized: { status: 401, hint: "Sign in again, or send a valid token." },
  budget_exceeded: { status: 402, hint: "Raise the account's budget or wait for the next period." },
  forbidden: { status: 403, hint: "Ask the account's owner for access." },
  not_found: { status: 404, hint: "Check the name; what you asked for does not exist in this account." },
  method_not_allowed: { status: 405, hint: "Use one of the methods named in the Allow header." },
  busy: { status: 409, hint: "Wait for the active run, stop it, or ask to be enqueued." },
  conflict: { status: 409, hint: "Reload: this was changed since you read it." },
  graph_changed: {
    status: 409,
    hint: "The graph is not the one this run began with: decline what it asked, or send a new message.",
  },
  interrupt_pending: { status: 409, hint: "Answer the open question first, or cancel it." },
  answer_mismatch: {
    status: 422,
    hint: "The question is still open: correct the answer as the problem says and send it again.",
  },
  too_large: { status: 413, hint: "Send less at once." },
  rate_limited: { status: 429, hint: "Slow down and retry after the time given." },
  internal: { status: 500, hint: "Try again; if it persists, report the request id." },
  upstream_unavailable: { status: 502, hint: "Check that the LangGraph server is reachable, then retry." },
  store_unavailable: { status: 503, hint: "The service's database is away. Retry after the time given." },
  sign_in_unavailable: {
    status: 503,
    hint: "The identity provider's keys can't be read. Retry after the time given.",
  },
  models_unavailable: {
    status: 503,
    hint: "The list of models can't be read from LiteLLM. Retry after the time given.",
  },
  shutting_down: { status: 503, hint: "Reconnect: another instance will serve you." },
  run_failed: { status: undefined, hint: "Look at the error of the failing step, then run again." },
  run_lost: { status: undefined, hint: "The run could not be taken up again; start a new one." },
  cancelled: { status: undefined, hint: "The run was stopped; send a message to go on." },
  gap: { status: undefined, hint: "Part of the history is no longer kept; a fresh snapshot follows." },
} as const satisfies Record<string, { status: number | undefined; hint: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

const codes = new Set<string>(Object.keys(ERROR_CODES));

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && codes.has(value);
}

/** The HTTP status of a code. Codes that only end a run still need one where a plain HTTP route must send it. */
export function httpStatusOf(code: ErrorCode): number {
  return ERROR_CODES[code].status ?? 500;
}
