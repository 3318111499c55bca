import { Client } from "@langchain/langgraph-sdk";
import { type Clock, type ErrorCode, ThroughlineError } from "@throughline/ai-core";
import { read, readString } from "@throughline/coerce";

export interface ServerAddress {
  readonly url: string;
  /** Sent as `x-api-key`; none is sent when absent, whatever the environment holds. */
  readonly apiKey?: string;
  /** How long an ordinary request may take. Streams have no limit but the watchdog's. */
  readonly requestTimeoutMs?: number;
}

const REQUEST_TIMEOUT_MS = 10_000;

/**
 * The official SDK with its own cleverness off: a retried `POST /runs` makes a second run, and four slow calls would
 * keep a cancel waiting. Retrying is ours, where it is known to be safe.
 */
export function createServerClient({ url, apiKey, requestTimeoutMs }: ServerAddress): Client {
  return new Client({
    apiUrl: url,
    // `undefined` would make the SDK send a LangSmith key it finds in the environment to a server that is not LangSmith's.
    apiKey: apiKey ?? null,
    timeoutMs: requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    callerOptions: { maxRetries: 0, maxConcurrency: Number.POSITIVE_INFINITY },
    onRequest: (url, init) => {
      // The SDK always sends `wait`, and the server reads `wait=0` as true: it would respond 500 ms later and steal events.
      if (url.pathname.endsWith("/cancel")) url.searchParams.delete("wait");
      return { ...init, headers: withoutExtensionHeaders(init.headers), ...historyBody(url, init) };
    },
  });
}

/** Key next to a checkpoint id, in the config that the SDK requires for a history's `before`. */
export const BARE_ID = "throughline_bare_id";

/** JavaScript's server takes the bare id where the SDK and Python's server want a config with the id in it. */
function historyBody(url: URL, { body }: RequestInit): { readonly body?: string } {
  if (!url.pathname.endsWith("/history") || typeof body !== "string") return {};
  const query: unknown = JSON.parse(body);
  const before = read(read(query, "before"), "configurable");
  if (read(before, BARE_ID) !== true) return {};
  return { body: JSON.stringify(Object.assign({}, query, { before: readString(before, "checkpoint_id") })) };
}

/** The server copies `x-*` headers into `configurable`, and with it into every checkpoint. */
function withoutExtensionHeaders(headers: RequestInit["headers"]): Headers {
  const filtered = new Headers(headers);
  for (const name of [...filtered.keys()]) {
    if (name.startsWith("x-") && name !== "x-api-key") filtered.delete(name);
  }
  return filtered;
}

/** The HTTP status an SDK call failed with; `undefined` when no response came at all. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("status" in error)) return undefined;
  return typeof error.status === "number" ? error.status : undefined;
}

/** Whether there was no response, or a retryable one: the same request may succeed in a moment. */
export function isUnreachable(error: unknown): boolean {
  const status = statusOf(error);
  return status === undefined ? !(error instanceof ThroughlineError) : RETRYABLE.has(status);
}

const RETRYABLE = new Set([408, 429, 502, 503, 504]);

const BY_STATUS: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  400: ["invalid_input", "The LangGraph server did not accept the request."],
  // Not the caller's key but ours, so the caller is not sent to sign in.
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
 * A failure of the server with our own message. The upstream's text stays in `cause`, which is never sent: it may hold a key,
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

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** Retries while there is no response, within the bound; only for requests that may be repeated. */
export async function whileUnreachable<T>(
  request: () => Promise<T>,
  { clock, boundMs }: { readonly clock: Clock; readonly boundMs: number },
): Promise<T> {
  const deadline = clock.now() + boundMs;
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
    try {
      return await request();
    } catch (error) {
      if (!isUnreachable(error) || clock.now() + wait >= deadline) throw error;
      await pause(clock, wait);
    }
  }
}

/** Resolves after `ms` of the clock, or at once when the signal fires; the caller checks the signal. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      timer.cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.schedule(ms, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}
/** One SSE event of a run's stream, as the SDK gives it. */
export interface ServerEvent {
  readonly id?: string | undefined;
  readonly event: string;
  readonly data: unknown;
}
