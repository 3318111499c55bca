import { SIGNED_IN_AS_OTHER, type StreamFailure } from "../connection/connection.js";

export interface HttpOptions {
  readonly fetch?: typeof fetch;
  /** Asked before every request, and once more with `isRenewal` when the service refused what it gave. */
  readonly headers?: (about: {
    readonly isRenewal: boolean;
  }) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Cookies of this origin by default. */
  readonly credentials?: RequestCredentials;
  /** How long an answer that is no stream may take. */
  readonly timeoutMs?: number;
}

export interface RequestParts {
  /** Without it: `POST` where there is a body, else `GET`. */
  readonly method?: "PUT";
  /** JSON, or bytes as they are. */
  readonly body?: string | Blob;
  /** Of bytes. */
  readonly type?: string;
  readonly cursor?: string | undefined;
  readonly signal?: AbortSignal;
}

export const DEFAULT_TIMEOUT_MS = 15_000;

/** Asks the service, and once more with renewed credentials where it refused the first ones. */
export function createRequest(
  url: string,
  options: HttpOptions,
): (path: string, init: RequestParts) => Promise<Response> {
  const ask = options.fetch ?? ((input, init) => fetch(input, init));
  const base = url.replace(/\/$/, "");

  async function attempt(path: string, init: RequestParts, isRenewal: boolean): Promise<Response> {
    const own = await options.headers?.({ isRenewal });
    const { method, body, type = "application/json", cursor, signal } = init;
    return ask(base + path, {
      method: method ?? (body ? "POST" : "GET"),
      headers: {
        ...own,
        accept: "text/event-stream, application/json",
        ...(body && { "content-type": type }),
        ...(cursor !== undefined && { "last-event-id": cursor }),
      },
      body: body ?? null,
      signal: signal ?? null,
      credentials: options.credentials ?? "same-origin",
      cache: "no-store",
    });
  }

  return async (path, init) => {
    const response = await attempt(path, init, false);
    if (response.status !== 401 || !options.headers) return response;
    const failure = await failureOf(response.clone());
    if (failure?.kind === "refused" && failure.code === SIGNED_IN_AS_OTHER) return response;
    await response.body?.cancel();
    return attempt(path, init, true);
  };
}

export async function failureOf(response: Response): Promise<StreamFailure | undefined> {
  if (response.ok) return undefined;
  const said: Partial<Record<"code" | "message", unknown>> = await response.json().catch(() => ({}));
  const retryAfter = Number(response.headers.get("retry-after"));
  return {
    kind: "refused",
    status: response.status,
    code: typeof said?.code === "string" ? said.code : "internal",
    message: typeof said?.message === "string" ? said.message : `The service answered ${response.status}.`,
    ...(retryAfter > 0 && { retryAfterMs: retryAfter * 1_000 }),
  };
}
