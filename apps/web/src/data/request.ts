import type * as z from "zod/mini";
import { sessionRanOut } from "../shell/session-end";
import { IDENTITY_HEADER, type Identity, identityName } from "./identity";

/** The service said no, or nothing. `message` is a sentence a person can act on. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export interface Asking {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  /** Bytes as they are, instead of a body. */
  readonly file?: { readonly content: Blob; readonly mimeType: string };
  readonly signal?: AbortSignal;
}

/** Operator data. Agents themselves are spoken to through agent-client alone. */
export async function askService<Schema extends z.ZodMiniType>(
  path: string,
  schema: Schema,
  { method = "GET", body, file, signal }: Asking = {},
): Promise<z.output<Schema>> {
  if (method === "GET") await taskOfItsOwn();
  const answer = await pageFetch(`/api/throughline${path}`, {
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
  const said: unknown = answer.status === 204 ? undefined : await answer.json().catch(() => undefined);
  if (!answer.ok) {
    const error = errorOf(said, answer.status);
    // Signed in as another person, the page says so and stays: what was written on it is not lost.
    if (answer.status === 401 && error.code !== "signed_in_as_other") sessionRanOut();
    throw error;
  }
  const read = schema.safeParse(said);
  if (read.success) return read.data;
  throw new ServiceError(
    "internal",
    "The service sent an answer that this page does not understand. Reload the page.",
  );
}

/** Lists ask together, as at the end of a run, and to begin a request costs a page a millisecond or more: all at once they are felt. */
function taskOfItsOwn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

function errorOf(said: unknown, status: number): ServiceError {
  const { code, message } =
    typeof said === "object" && said !== null ? ({ ...said } as Record<string, unknown>) : {};
  return typeof code === "string" && typeof message === "string"
    ? new ServiceError(code, message)
    : new ServiceError("internal", `The service answered ${status} and did not say why. Try again.`);
}

/** A segment of a path: names may hold slashes, spaces, anything. */
export function segment(name: string): string {
  return encodeURIComponent(name);
}

/** The answer, or what stands for it where the service has no such thing: a thread exists from its first message on. */
export async function orIfMissing<T, Else>(answer: Promise<T>, otherwise: Else): Promise<T | Else> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") return otherwise;
    throw error;
  }
}

/** Who the browser is signed in as, where that is not who this page is of. */
export interface OtherSignIn {
  readonly signedInAs: string;
}

let identity: Identity | undefined;
let other: OtherSignIn | undefined;
const listeners = new Set<() => void>();

/** Called once, in the browser, before the page asks for anything. */
export function setPageIdentity(rendered: Identity): void {
  identity = rendered;
}

/** As `fetch`, for all that a page asks of the console: names who the page is of. */
export async function pageFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (identity) headers.set(IDENTITY_HEADER, identityName(identity));
  const answer = await fetch(input, { ...init, headers });
  if (answer.status === 401) await notice(answer.clone());
  return answer;
}

async function notice(answer: Response): Promise<void> {
  const said: { code?: unknown; details?: { signedInAs?: unknown } } | null = await answer
    .json()
    .catch(() => null);
  if (said?.code !== "signed_in_as_other") return;
  other = { signedInAs: String(said.details?.signedInAs ?? "another account") };
  for (const listener of [...listeners]) listener();
}

export const otherSignIn = {
  getSnapshot: () => other,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
