import { SIGNED_IN_AS_OTHER, type StreamFailure } from "../connection/connection-state.js";

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

/** As `fetch` has it. Without a method: `POST` where there is a body, which is JSON where its headers do not say otherwise. */
export type RequestParts = Omit<RequestInit, "headers"> & {
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

export type AskService = (path: string, parts: RequestParts) => Promise<Response>;

export const DEFAULT_TIMEOUT_MS = 15_000;

/** Asks the service, and once more with renewed credentials where it refused the first ones. */
export function createRequest(url: string, options: HttpOptions): AskService {
  const ask = options.fetch ?? ((input, init) => fetch(input, init));
  const base = url.replace(/\/$/, "");

  async function attempt(path: string, parts: RequestParts, isRenewal: boolean): Promise<Response> {
    const own = await options.headers?.({ isRenewal });
    return ask(base + path, {
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

/** One answer in JSON. Does not reject: what goes wrong is the value. */
export async function askJson<T>(
  request: AskService,
  path: string,
  parts: RequestParts,
  read: (answer: unknown) => T,
): Promise<T | StreamFailure> {
  try {
    const response = await request(path, parts);
    return (await failureOf(response)) ?? read(await response.json());
  } catch {
    return { kind: "network" };
  }
}

export async function failureOf(response: Response): Promise<StreamFailure | undefined> {
  if (response.ok) return undefined;
  const said: Partial<Record<"code" | "message", unknown>> = await response.json().catch(() => ({}));
  return {
    kind: "refused",
    status: response.status,
    code: typeof said?.code === "string" ? said.code : "internal",
    message: typeof said?.message === "string" ? said.message : `The service answered ${response.status}.`,
    // One that is a date is none.
    retryAfterMs: Number(response.headers.get("retry-after")) * 1_000 || undefined,
  };
}
