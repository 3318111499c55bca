import { type RequestFailure, SIGNED_IN_AS_OTHER } from "../connection/connection-state.js";

export interface HttpOptions {
  readonly fetch?: typeof fetch;
  /** Called before every request, and once more with `isRenewal` when the service refused its headers. */
  readonly headers?: (about: {
    readonly isRenewal: boolean;
  }) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Cookies of this origin by default. */
  readonly credentials?: RequestCredentials;
  /** How long a response that is no stream may take. */
  readonly timeoutMs?: number;
}

/** Options of `fetch`. Without a method: `POST` where there is a body, which is JSON unless its headers name another type. */
export type RequestParts = Omit<RequestInit, "headers"> & {
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

export type SendRequest = (path: string, parts: RequestParts) => Promise<Response>;

export const DEFAULT_TIMEOUT_MS = 15_000;

/** Creates a function that sends requests, once more with renewed credentials where the service refused the first ones. */
export function createRequest(url: string, options: HttpOptions): SendRequest {
  const send = options.fetch ?? ((input, init) => fetch(input, init));
  const base = url.replace(/\/$/, "");

  async function attempt(path: string, parts: RequestParts, isRenewal: boolean): Promise<Response> {
    const own = await options.headers?.({ isRenewal });
    return send(base + path, {
      method: parts.body ? "POST" : "GET",
      credentials: options.credentials ?? "same-origin",
      cache: "no-store",
      ...parts,
      headers: {
        ...own,
        accept: "text/event-stream, application/json",
        ...(parts.body && { "content-type": "application/json" }),
        ...parts.headers,
      },
    });
  }

  return async (path, parts) => {
    const response = await attempt(path, parts, false);
    if (response.status !== 401 || !options.headers) return response;
    const failure = await failureOf(response.clone());
    if (failure?.kind === "refused" && failure.code === SIGNED_IN_AS_OTHER) return response;
    await response.body?.cancel();
    return attempt(path, parts, true);
  };
}

/** Requests JSON. Does not reject: a failure is a value. */
export async function requestJson<T>(
  request: SendRequest,
  path: string,
  parts: RequestParts,
  read: (body: unknown) => T,
): Promise<T | RequestFailure> {
  try {
    const response = await request(path, parts);
    return (await failureOf(response)) ?? read(await response.json());
  } catch {
    return { kind: "network" };
  }
}

export async function failureOf(response: Response): Promise<RequestFailure | undefined> {
  if (response.ok) return undefined;
  const body: Partial<Record<"code" | "message", unknown>> = await response.json().catch(() => ({}));
  return {
    kind: "refused",
    status: response.status,
    code: typeof body?.code === "string" ? body.code : "internal",
    message: typeof body?.message === "string" ? body.message : `The service answered ${response.status}.`,
    // A date counts as absent.
    retryAfterMs: Number(response.headers.get("retry-after")) * 1_000 || undefined,
  };
}
