import { Client } from "@langchain/langgraph-sdk";
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
      // The SDK always sends `wait`, and the server reads `wait=0` as true: it would answer 500 ms later and steal events.
      if (url.pathname.endsWith("/cancel")) url.searchParams.delete("wait");
      return { ...init, headers: withoutExtensionHeaders(init.headers), ...historyBody(url, init) };
    },
  });
}

/** Beside a checkpoint id, in the config that the SDK wants for a history's `before`. */
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
  const kept = new Headers(headers);
  for (const name of [...kept.keys()]) {
    if (name.startsWith("x-") && name !== "x-api-key") kept.delete(name);
  }
  return kept;
}
