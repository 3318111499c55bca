import type * as z from "zod/mini";
import { sessionRanOut } from "../shell/session-end";
import { IDENTITY_HEADER, type Identity, identityName } from "./identity";

/** A refusal of the service, or a failed connection. `message` is a sentence that a person can act on. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export interface RequestOptions {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  /** Raw bytes, instead of a body. */
  readonly file?: { readonly content: Blob; readonly mimeType: string };
  readonly signal?: AbortSignal;
}

/** Requests operator data from the service. Agents are reached through agent-client only. */
export async function askService<Schema extends z.ZodMiniType>(
  path: string,
  schema: Schema,
  { method = "GET", body, file, signal }: RequestOptions = {},
): Promise<z.output<Schema>> {
  if (method === "GET") await inOwnTask();
  const response = await pageFetch(`/api/throughline${path}`, {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }),
    ...(file && { body: file.content, headers: { "content-type": file.mimeType } }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ServiceError(
      "unreachable",
      "The console can't be reached. Check your connection, then try again.",
    );
  });
  const payload: unknown = response.status === 204 ? undefined : await response.json().catch(() => undefined);
  if (!response.ok) {
    const error = errorOf(payload, response.status);
    // Signed in as another person, the page reports it and stays: text that was written on it is not lost.
    if (response.status === 401 && error.code !== "signed_in_as_other") sessionRanOut();
    throw error;
  }
  const read = schema.safeParse(payload);
  if (read.success) return read.data;
  throw new ServiceError(
    "internal",
    "The service sent an answer that this page does not understand. Reload the page.",
  );
}

/** Yields to a new task: lists refetch together, as at a run's end, and each request takes a page 1 ms or more to start. */
function inOwnTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

function errorOf(payload: unknown, status: number): ServiceError {
  const { code, message } =
    typeof payload === "object" && payload !== null ? ({ ...payload } as Record<string, unknown>) : {};
  return typeof code === "string" && typeof message === "string"
    ? new ServiceError(code, message)
    : new ServiceError("internal", `The service answered ${status} and did not say why. Try again.`);
}

/** Encodes a name as one segment of a path: names may contain slashes, spaces, anything. */
export function segment(name: string): string {
  return encodeURIComponent(name);
}

/** Resolves to `otherwise` where the service finds nothing: a thread exists from its first message on. */
export async function orIfMissing<T, Else>(response: Promise<T>, otherwise: Else): Promise<T | Else> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") return otherwise;
    throw error;
  }
}

/** Label of the browser's sign-in, where it differs from the page's identity. */
export interface OtherSignIn {
  readonly signedInAs: string;
}

let identity: Identity | undefined;
let other: OtherSignIn | undefined;
const listeners = new Set<() => void>();

/** Sets the page's identity. Called once, in the browser, before the first request. */
export function setPageIdentity(rendered: Identity): void {
  identity = rendered;
}

/** `fetch` for all requests to the console: names the page's identity in a header. */
export async function pageFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (identity) headers.set(IDENTITY_HEADER, identityName(identity));
  const response = await fetch(input, { ...init, headers });
  if (response.status === 401) await detectOtherSignIn(response.clone());
  return response;
}

async function detectOtherSignIn(response: Response): Promise<void> {
  const payload: { code?: unknown; details?: { signedInAs?: unknown } } | null = await response
    .json()
    .catch(() => null);
  if (payload?.code !== "signed_in_as_other") return;
  other = { signedInAs: String(payload.details?.signedInAs ?? "another account") };
  for (const listener of [...listeners]) listener();
}

export const otherSignIn = {
  getSnapshot: () => other,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
